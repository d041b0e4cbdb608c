//! `cenote migrate-dnanexus`: a project of a server that speaks the DNAnexus API.

use std::num::NonZeroUsize;

use crate::commands::files::resources::mkdir::collection;
use crate::error::Result;
use crate::migrate::all_brought;
use crate::migrate::dnanexus::{Migration, SourceArgs, Summary};
use crate::place::StorePath;
use crate::session::Session;
use crate::text::size;

/// Copy a project from a server that speaks the DNAnexus API.
///
/// Folders, files and records are copied with their names, tags, properties, types, details and creation
/// times. `dx` also finds them by the ids that they had. Each part of a file is compared with the
/// MD5 that the source has of it. What was copied is not copied again: run the same command to continue
/// after an interruption, or to copy what is new. Open and archived files are left out, and so is
/// everything except files and records.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For example, where `dx` is logged in:
  cenote migrate-dnanexus mammals :/lab/mammals
                              copy the project `mammals`
  cenote migrate-dnanexus project-F0JPv8Q0vZ81x59f5YZxxxxx :/lab/reads --folder /reads
                              copy a folder of a project")]
pub(crate) struct Args {
    /// The project: its id, or its name
    #[arg(value_name = "PROJECT")]
    project: String,
    /// The collection in the store, which is created if it is missing
    #[arg(value_name = "COLLECTION")]
    to: StorePath,
    /// Only this folder of the project
    #[arg(long, value_name = "FOLDER", default_value = "/")]
    folder: String,
    #[command(flatten)]
    source: SourceArgs,
    /// The number of parallel requests
    #[arg(long, short, value_name = "NUMBER", default_value = "4")]
    jobs: NonZeroUsize,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        session.client()?.create(&collection(&self.to, true)).await?;
        let from = (self.project.as_str(), self.folder.as_str());
        let migration =
            Migration::begin(session, &self.source, from, self.to.as_str(), self.jobs.get())
                .await?;
        let summary = migration.run().await?;
        session.output.done(&summary, shown)?;
        all_brought(summary.failed, "objects")
    }
}

fn shown(summary: &Summary) -> String {
    let Summary { files, records, unchanged, skipped, .. } = summary;
    let mut line = format!("brought {files} files, {}; {records} records", size(summary.bytes));
    if *unchanged > 0 {
        line += &format!("; {unchanged} unchanged");
    }
    if *skipped > 0 {
        line += &format!("; {skipped} left out");
    }
    line
}
