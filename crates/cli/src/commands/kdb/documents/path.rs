//! `cenote kdb file`.

use serde_json::json;

use super::file::FileArgs;
use crate::error::Result;
use crate::session::Session;

/// Print where a key set is stored: the file, with symbolic links resolved, or the path in the store.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// A key that must exist in it
    name: Option<String>,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let mut opened = self.file.open(session)?;
        if let Some(name) = &self.name {
            opened.key(name)?;
        }
        let place = self.file.file().place()?;
        let line =
            json!({ "file": place, "format": opened.format.name(), "keys": opened.keys.len() });
        session.output.item(&line, |_| place.clone())
    }
}
