//! `cenote import`: files of a format that other programs write, into a collection.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::export::{finish, finish_crate};
use crate::archive::ocfl::import::Import;
use crate::archive::ro_crate;
use crate::commands::files::resources::mkdir::collection;
use crate::error::{CliError, Kind, Result};
use crate::place::StorePath;
use crate::session::Session;
use crate::text::{count, size};

/// Bring an archive into a collection.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    format: Format,
}

#[derive(Debug, clap::Subcommand)]
enum Format {
    Ocfl(Ocfl),
    RoCrate(RoCrate),
}

/// An RO-Crate 1.0 to 1.2: the files of a directory or a zip, and the metadata in `ro-crate-metadata.json`
///
/// The statements about a file become its description; statements about something else, such as a person,
/// become part of the description of the first file that names it. If a file is missing, or its size or
/// SHA-256 differs from the metadata, nothing is imported; neither is a zip that is damaged or not safe to unpack. No
/// context is fetched. What the store has already is not imported again. `--check` needs no store.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For example:
  cenote import ro-crate crate /lab/run7      import the crate in the directory `crate` to /lab/run7
  cenote import ro-crate crate.zip --check    check that the zip is what its metadata says")]
struct RoCrate {
    /// The directory or the zip of the crate
    #[arg(value_name = "DIR|ZIP")]
    from: PathBuf,
    /// The collection in the store, which is created if it is missing
    #[arg(value_name = "COLLECTION", required_unless_present = "check", conflicts_with = "check")]
    to: Option<StorePath>,
    /// Import nothing: compare the metadata with the files, and print one line per fault
    #[arg(long)]
    check: bool,
    /// The number of parallel requests
    #[arg(long, short, value_name = "NUMBER", default_value = "4")]
    jobs: NonZeroUsize,
}

/// An OCFL 1.0 or 1.1 storage root: of `cenote export ocfl`, of fcrepo 6, or of any other program
///
/// Every object is checked with all of its files first; if one is not valid, nothing is imported. An
/// object of fcrepo becomes the resources that it was, any other one a collection that is named after
/// its id, with its files. Earlier versions become versions, with their times and messages. What the
/// store has already is not imported again: run the same command to continue after an interruption.
/// Authors are those of the store, and access lists are left out.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For example:
  cenote import ocfl archive /lab          import the storage root `archive` to /lab
  cenote import ocfl archive /lab --check  check every file there, and compare it with /lab")]
struct Ocfl {
    /// The directory of the storage root
    #[arg(value_name = "DIR")]
    from: PathBuf,
    /// The collection in the store, which is created if it is missing
    #[arg(value_name = "COLLECTION")]
    to: StorePath,
    /// Import nothing: check the objects, and compare them with the store
    #[arg(long)]
    check: bool,
    /// The number of parallel requests
    #[arg(long, short, value_name = "NUMBER", default_value = "4")]
    jobs: NonZeroUsize,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        match self.format {
            Format::Ocfl(ocfl) => ocfl.run(session).await,
            Format::RoCrate(ro_crate) => ro_crate.run(session).await,
        }
    }
}

impl Ocfl {
    async fn run(self, session: &Session) -> Result<()> {
        let Self { from, to, check, jobs } = self;
        let import = Import::begin(session, &from, to.as_str(), jobs, check)?;
        if !check {
            session.client()?.create(&collection(&to, true)).await?;
        }
        finish(session, &import.run().await?, "imported", check)
    }
}

impl RoCrate {
    async fn run(self, session: &Session) -> Result<()> {
        let Self { from, to, jobs, .. } = self;
        let Some(to) = to else { return check(session, from).await };
        let import = ro_crate::import::Import::begin(session, &from, to.as_str(), jobs)?;
        finish_crate(session, &import.run().await?, "imported")
    }
}

/// Reports what is wrong with a crate, and fails if anything is.
async fn check(session: &Session, from: PathBuf) -> Result<()> {
    let checked = tokio::task::spawn_blocking(move || ro_crate::check::check(&from)).await;
    let (checked, faults) =
        checked.map_err(|error| CliError::new(Kind::Failed, error.to_string()))??;
    for fault in &faults {
        session.output.item(fault, ro_crate::check::Fault::line)?;
    }
    if checked.faults > 0 {
        let found = format!("{} in the crate", count(checked.faults, "fault"));
        return Err(CliError::new(Kind::Found, found));
    }
    session.output.done(&checked, |checked| {
        format!("{} as the metadata says, {}", count(checked.files, "file"), size(checked.bytes))
    })
}
