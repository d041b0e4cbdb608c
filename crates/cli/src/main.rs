//! The `cenote` program: one file per command, in the rooms of `commands/`.
//!
//! `main` reads the command line, resolves the settings and runs one verb; a
//! verb returns its result as lines on stdout or as one [`error::CliError`],
//! whose kind is the exit code.

#![forbid(unsafe_code)]

mod archive;
mod args;
mod bytes;
mod commands;
mod complete;
mod connect;
mod duration;
mod error;
mod glob;
mod helper;
mod migrate;
mod moment;
mod output;
mod place;
mod progress;
mod reach;
#[cfg(test)]
mod reference;
mod secret;
mod service;
mod session;
mod text;
mod tree;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use clap_complete::CompleteEnv;

use crate::args::Cli;
use crate::session::Session;

/// The system's allocator keeps an arena for each thread that ever served a request, which takes twice the memory. Huge pages
/// are disabled, because with them this allocator would take a third more.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    CompleteEnv::with_factory(complete::command).var(complete::VARIABLE).complete();
    let cli = Cli::parse_from(helper::arguments());
    let json = cli.global.json;
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(json),
    }
}

/// How long a thread for blocking work waits for more. Each of those that wait gets work in turn, so the threads that a burst of requests needed
/// would never end under a steady load, and each keeps some megabytes of its allocator.
const IDLE_THREAD: Duration = Duration::from_millis(20);

fn run(cli: Cli) -> error::Result<()> {
    let session = Session::new(&cli.global)?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().thread_keep_alive(IDLE_THREAD).build()?;
    let stops_itself = cli.command.stops_itself();
    let verb = cli.command.run(&session);
    let outcome = match stops_itself {
        true => runtime.block_on(verb),
        false => runtime.block_on(interruptible(verb)),
    };
    // Do not wait for abandoned work, or for the remaining tasks of a server that was stopped.
    runtime.shutdown_background();
    session.output.flush()?;
    outcome.map_err(|error| session.explain(error))
}

/// Control-C ends the program through its ordinary way out, so that what was
/// printed is flushed, and a transfer that can be resumed is reported.
async fn interruptible(verb: impl Future<Output = error::Result<()>>) -> error::Result<()> {
    tokio::select! {
        outcome = verb => outcome,
        Ok(()) = tokio::signal::ctrl_c() => Err(error::CliError::interrupted()),
    }
}
