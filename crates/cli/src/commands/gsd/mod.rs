//! `cenote gsd`: what is in a simulation trajectory, without an interpreter.

mod check;
mod extract;
mod file;
mod info;
mod ls;
mod read;
mod repack;

use cenote_gsd::{Entry, Reader, Source};

use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// An open file, here or in the store.
type GsdReader = Reader<Box<dyn Source>>;

/// Inspect, check and repair GSD trajectories.
///
/// FILE is a local file, or, with a colon before it, a file in the store (`:/lab/run7/traj.gsd`), of
/// which only the parts that are needed are read.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Info(info::Args),
    Ls(ls::Args),
    Extract(extract::Args),
    Check(check::Args),
    Repack(repack::Args),
    Read(read::Args),
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        // The verbs block on the disk, so they do not run on a thread of the executor.
        tokio::task::block_in_place(|| match self.verb {
            Verb::Info(args) => args.run(session),
            Verb::Ls(args) => args.run(session),
            Verb::Extract(args) => args.run(session),
            Verb::Check(args) => args.run(session),
            Verb::Repack(args) => args.run(session),
            Verb::Read(args) => args.run(session),
        })
    }
}

/// The number of a frame that may be counted from the end.
fn frame_number(reader: &GsdReader, frame: i64) -> Result<u64> {
    let frames = reader.frames();
    let number = if frame < 0 {
        frames.checked_sub(frame.unsigned_abs())
    } else {
        Some(frame.unsigned_abs())
    };
    number.filter(|number| *number < frames).ok_or_else(|| {
        CliError::new(Kind::NotFound, format!("no frame {frame}: the file has {frames} frames"))
    })
}

/// `N` or `N x M`.
fn shape(entry: &Entry) -> String {
    match entry.columns() {
        1 => entry.rows().to_string(),
        columns => format!("{} x {columns}", entry.rows()),
    }
}

fn name_of(reader: &GsdReader, entry: &Entry) -> String {
    let name = reader.names().get(entry.name_id()).unwrap_or_default();
    String::from_utf8_lossy(name).into_owned()
}
