//! `cenote kdb meta-ls`.

use serde_json::json;

use super::file::FileArgs;
use super::show::lossy;
use crate::error::Result;
use crate::session::Session;

/// List the metakeys of a key; with --json their values too.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// The key
    name: String,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let mut opened = self.file.open(session)?;
        for meta in opened.key(&self.name)?.meta() {
            let line = json!({ "meta": lossy(meta.name()), "value": lossy(meta.value()) });
            session.output.item(&line, |_| lossy(meta.name()))?;
        }
        Ok(())
    }
}
