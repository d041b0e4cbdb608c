//! `cenote migrate-fedora`: a repository of linked data, by walking it.

use std::num::NonZeroUsize;

use crate::commands::files::resources::mkdir::collection;
use crate::error::{CliError, Kind, Result};
use crate::migrate::all_brought;
use crate::migrate::fedora::{Migration, SourceArgs, Summary};
use crate::place::StorePath;
use crate::session::Session;
use crate::text::size;

/// Copy a repository of linked data: LAKEsuperior, Fedora, or any LDP server.
///
/// Containers, RDF sources and files are copied with all statements about them, below the collection under
/// the names that they have below the address; links between them lead to the copies. Files are
/// compared with the digests that the source gives. Everything is compared once more at the end. What
/// the store has already is not copied again: run the same command to continue after an interruption,
/// or to copy what changed. Versions and access lists are left out; creation times and creators are
/// those of the store.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For example:
  cenote migrate-fedora http://fedora.example:8080/rest/ :/fedora --source-user ada --source-password-file secret
                              copy all that ada may read
  cenote migrate-fedora http://lake.example:8000/ldp/maps :/lab/maps
                              copy a container with all below it
  cenote migrate-fedora http://lake.example:8000/ldp/maps :/lab/maps --check
                              compare only")]
pub(crate) struct Args {
    /// The address of what to copy
    #[arg(value_name = "URL")]
    url: String,
    /// The collection in the store, which is created if it is missing
    #[arg(value_name = "COLLECTION")]
    to: StorePath,
    /// Bring nothing: compare what is in the store with the source
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    source: SourceArgs,
    /// The number of parallel requests
    #[arg(long, short, value_name = "NUMBER", default_value = "4")]
    jobs: NonZeroUsize,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        if !self.check {
            session.client()?.create(&collection(&self.to, true)).await?;
        }
        let (to, jobs) = (self.to.as_str(), self.jobs.get());
        let migration = Migration::begin(session, &self.source, &self.url, to, jobs).await?;
        let summary = match self.check {
            true => migration.verify(Summary::default()).await?,
            false => migration.run().await?,
        };
        session.output.done(&summary, shown)?;
        match (summary.failed, self.check) {
            (failed @ 1.., true) => {
                Err(CliError::new(Kind::Found, format!("{failed} resources are not the same")))
            }
            (failed, _) => all_brought(failed, "resources"),
        }
    }
}

fn shown(summary: &Summary) -> String {
    let Summary { binaries, graphs, unchanged, skipped, verified, .. } = summary;
    let mut line = format!("brought {binaries} files, {}; {graphs} graphs", size(summary.bytes));
    if *unchanged > 0 {
        line += &format!("; {unchanged} unchanged");
    }
    if *skipped > 0 {
        line += &format!("; {skipped} left out");
    }
    line + &format!("; {verified} verified")
}
