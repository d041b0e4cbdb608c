//! `cenote kdb meta-show`.

use serde_json::json;

use super::file::FileArgs;
use super::show::lossy;
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
        let mut opened = self.file.open(session)?;
        for meta in opened.key(&self.name)?.meta() {
            let (name, value) = (lossy(meta.name()), lossy(meta.value()));
            let line = json!({ "meta": name, "value": value });
            session.output.item(&line, |_| format!("{name}: {value}"))?;
        }
        Ok(())
    }
}
