//! `cenote gsd`: what is in a simulation trajectory, without an interpreter.

mod check;
mod extract;
mod info;
mod ls;
mod read;
mod repack;

use std::fs::File;
use std::path::Path;

use cenote_gsd::{Entry, Error, Reader};

use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Look into GSD trajectories, check and repair them.
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
        // The verbs wait for the disk: not on a thread that others' work is waiting on.
        tokio::task::block_in_place(|| match self.verb {
            Verb::Info(args) => args.run(session),
            Verb::Ls(args) => args.run(session),
            Verb::Extract(args) => args.run(session),
            Verb::Check(args) => args.run(session),
            Verb::Repack(args) => args.run(session),
            Verb::Read(args) => args.run(),
        })
    }
}

/// Opens a file on this machine.
fn open(path: &Path) -> Result<Reader<File>> {
    let file = File::open(path).map_err(|e| in_file(path)(e.into()))?;
    Reader::open(file).map_err(in_file(path))
}

/// An error of the format, with the file it is in and the exit code of its kind.
fn in_file(path: &Path) -> impl Fn(Error) -> CliError {
    move |error| {
        let kind = match &error {
            Error::NotGsd(_) | Error::UnsupportedVersion(..) | Error::Corrupt { .. } => {
                Kind::Mismatch
            }
            Error::Io(io) => match io.kind() {
                std::io::ErrorKind::NotFound => Kind::NotFound,
                std::io::ErrorKind::AlreadyExists => Kind::Exists,
                std::io::ErrorKind::PermissionDenied => Kind::Denied,
                std::io::ErrorKind::StorageFull => Kind::NoSpace,
                std::io::ErrorKind::UnexpectedEof => Kind::Mismatch,
                _ => Kind::Failed,
            },
            _ => Kind::Failed,
        };
        let told = CliError::new(kind, format!("{}: {error}", path.display()));
        if matches!(error, Error::Corrupt { .. }) {
            return told.hint("`cenote gsd repack --recover` saves the frames that are whole");
        }
        told
    }
}

/// The number of a frame that may be counted from the end.
fn frame_number(reader: &Reader<File>, frame: i64) -> Result<u64> {
    let frames = reader.frames();
    let number = if frame < 0 {
        frames.checked_sub(frame.unsigned_abs())
    } else {
        Some(frame.unsigned_abs())
    };
    number.filter(|number| *number < frames).ok_or_else(|| {
        CliError::new(Kind::NotFound, format!("there is no frame {frame} of {frames}"))
    })
}

/// `N` or `N x M`.
fn shape(entry: &Entry) -> String {
    match entry.columns() {
        1 => entry.rows().to_string(),
        columns => format!("{} x {columns}", entry.rows()),
    }
}

fn name_of(reader: &Reader<File>, entry: &Entry) -> String {
    let name = reader.names().get(entry.name_id()).unwrap_or_default();
    String::from_utf8_lossy(name).into_owned()
}
