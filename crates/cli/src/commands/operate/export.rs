//! `cenote export`: a collection as files of a format that other programs read.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::archive::ocfl::Summary;
use crate::archive::ocfl::export::Export;
use crate::archive::ro_crate;
use crate::error::{CliError, Kind, Result};
use crate::place::StorePath;
use crate::session::Session;
use crate::text::size;

/// Write a collection in a format for archives.
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

/// An RO-Crate 1.2: the files, and `ro-crate-metadata.json`, which says what they are
///
/// The metadata has the size, the media type, the time and the SHA-256 of each file, and all that its
/// description states; `ro-crate-preview.html` shows it to people. Both are written last:
/// run the same command to continue after an interruption. A name that ends with `.zip` is that of a
/// zip, which is written in a directory `NAME.partial` beside it, and replaces what has the name when it
/// is complete. Symbolic links, access lists and versions are left out.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For example:
  cenote export ro-crate /lab/run7 crate      write /lab/run7 to the directory `crate`
  cenote export ro-crate /lab/run7 crate.zip  write it to a zip")]
struct RoCrate {
    /// The collection in the store
    #[arg(value_name = "COLLECTION")]
    from: StorePath,
    /// The directory, which is created if it is missing, or the zip
    #[arg(value_name = "DIR|ZIP")]
    to: PathBuf,
    /// The number of parallel requests
    #[arg(long, short, value_name = "NUMBER", default_value = "4")]
    jobs: NonZeroUsize,
}

/// An OCFL 1.0 storage root, with an object for each resource as fcrepo 6 has them
///
/// Each object has a version for each state that the store has kept, with its time, its author and its
/// label, and the current state as the newest one. What an object has already is not written again: run
/// the same command to continue after an interruption, or to add what has changed since. Objects are never
/// removed, nor are their versions. Access lists are left out.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For example:
  cenote export ocfl /lab archive          write /lab to the directory `archive`
  cenote export ocfl /lab archive --check  check every file there, and compare it with /lab")]
struct Ocfl {
    /// The collection in the store
    #[arg(value_name = "COLLECTION")]
    from: StorePath,
    /// The directory, which is created if it is missing
    #[arg(value_name = "DIR")]
    to: PathBuf,
    /// Write nothing: check the objects, and compare them with the store
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
        let export = Export::begin(session, from.as_str(), &to, jobs.get(), check)?;
        finish(session, &export.run().await?, "exported", check)
    }
}

impl RoCrate {
    async fn run(self, session: &Session) -> Result<()> {
        let Self { from, to, jobs } = self;
        let export = ro_crate::export::Export::begin(session, from.as_str(), &to, jobs.get())?;
        finish_crate(session, &export.run().await?, "exported")
    }
}

/// The same of a crate.
pub(super) fn finish_crate(
    session: &Session,
    summary: &ro_crate::Summary,
    done: &str,
) -> Result<()> {
    let ro_crate::Summary { files, bytes, described, unchanged, skipped, failed } = summary;
    let mut line = format!("{done} {files} files, {}; {described} descriptions", size(*bytes));
    if *unchanged > 0 {
        line += &format!("; {unchanged} unchanged");
    }
    if *skipped > 0 {
        line += &format!("; {skipped} left out");
    }
    session.output.done(summary, |_| line)?;
    all_done(*failed)
}

fn all_done(failed: u64) -> Result<()> {
    match failed {
        0 => Ok(()),
        _ => Err(CliError::new(Kind::Partial, format!("{failed} resources failed"))
            .hint("run the same command again: what is done is not repeated")),
    }
}

/// Prints the summary of a run, and fails if some resources failed.
pub(super) fn finish(session: &Session, summary: &Summary, done: &str, check: bool) -> Result<()> {
    session.output.done(summary, |summary| shown(summary, done, check))?;
    match (summary.failed, check) {
        (failed @ 1.., true) => {
            Err(CliError::new(Kind::Found, format!("{failed} resources are not the same")))
        }
        (failed, _) => all_done(failed),
    }
}

fn shown(summary: &Summary, done: &str, check: bool) -> String {
    let Summary { resources, versions, bytes, unchanged, skipped, .. } = summary;
    let mut line = match check {
        true => format!("{unchanged} are the same"),
        false => format!("{done} {resources} resources with {versions} versions, {}", size(*bytes)),
    };
    if *unchanged > 0 && !check {
        line += &format!("; {unchanged} unchanged");
    }
    if *skipped > 0 {
        line += &format!("; {skipped} left out");
    }
    line
}
