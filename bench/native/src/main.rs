//! The native opening compared with other programs, in one run, interleaved; medians and ratios.
//!
//! `bench-native CENOTE [ROW …]`: `CENOTE` is the program to measure. Rows are `big`, `small`, `memory`,
//! `million` (with the restart) and `tree`; by default all of them. Work is done in a new directory below
//! `$TMPDIR`. `ROUNDS` (3) and `TREE` (a directory of many files) come from the environment.

mod append_server;
mod connection;
mod report;
mod rows;
mod served;
mod tools;

use std::error::Error;
use std::path::PathBuf;

use report::Report;

/// The error type of all parts of the benchmark.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// The context of a row.
pub(crate) struct Bench {
    /// The program.
    pub(crate) cenote: PathBuf,
    /// The directory for files.
    pub(crate) dir: PathBuf,
    /// The number of measurements of each side.
    pub(crate) rounds: usize,
    /// The results.
    pub(crate) report: Report,
}

fn main() -> Outcome {
    let mut args = std::env::args().skip(1);
    let cenote =
        args.next().ok_or("usage: bench-native CENOTE [big|small|memory|million|tree …]")?;
    let wanted: Vec<String> = args.collect();
    let dir = tempfile::tempdir()?;
    let rounds = std::env::var("ROUNDS").map_or(Ok(3), |rounds| rounds.parse())?;
    let mut bench = Bench {
        cenote: std::fs::canonicalize(cenote)?,
        dir: dir.path().to_owned(),
        rounds,
        report: Report::default(),
    };
    for (name, row) in rows::ALL {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            row(&mut bench)?;
        }
    }
    Ok(())
}
