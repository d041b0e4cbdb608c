//! Measures an engine of the catalog: resources of 200 triples, one durable commit each.
//!
//! `bench-engines ENGINE [--resources N] [--triples N] [--dir DIR]`, with ENGINE one of
//! `memory`, `fjall` and `postgres:CONFIG`, prints one row of the table in
//! `bench/README.md`. The writes are made in a child process, so that it can be killed.

mod random;
mod report;
mod run;
mod target;
mod workload;

use std::process::ExitCode;

use self::target::Target;
use self::workload::Size;

/// The command line.
#[derive(Debug)]
struct Options {
    target: Target,
    size: Size,
    /// This is the process that writes and is then killed.
    child: bool,
}

fn main() -> ExitCode {
    match parse(std::env::args().skip(1)).and_then(|options| run::run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-engines: {error}");
            eprintln!(
                "usage: bench-engines memory|fjall|postgres:CONFIG [--resources N] [--triples N] [--dir DIR]"
            );
            ExitCode::FAILURE
        }
    }
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let engine = args.next().ok_or("no engine named")?;
    let mut size = Size { resources: 10_000, triples: 200 };
    let mut dir = std::env::temp_dir();
    let mut child = false;
    while let Some(flag) = args.next() {
        let mut value = || args.next().ok_or(format!("{flag} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("{text} is no number"));
        match flag.as_str() {
            "--resources" => size.resources = number(value()?)?,
            "--triples" => size.triples = number(value()?)?,
            "--dir" => dir = value()?.into(),
            "--child" => child = true,
            _ => return Err(format!("unknown option {flag}")),
        }
    }
    Ok(Options { target: Target::parse(&engine, dir)?, size, child })
}
