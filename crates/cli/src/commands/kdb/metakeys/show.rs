//! `cenote kdb meta-show`.

use super::ls::list;
use crate::commands::kdb::documents::file::FileArgs;
use crate::error::Result;
use crate::session::Session;

/// Print the metakeys of a key with their values.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// The key
    name: String,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        list(&self.file, &self.name, session, |name, value| format!("{name}: {value}"))
    }
}
