//! `cenote kdb meta-rm`.

use super::file::{FileArgs, wrong};
use super::show::key_json;
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Remove a metakey of a key.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// The key
    name: String,
    /// The metakey, with or without `meta:/`
    meta: String,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let mut opened = self.file.open(session)?;
        let mut key = opened.key(&self.name)?.to_key();
        let removed = key.remove_meta(&self.meta);
        if !removed.map_err(|error| wrong(format!("metakey `{}`: {error}", self.meta)))? {
            let message = format!("`{}` has no metakey `{}`", key.name(), self.meta);
            return Err(CliError::new(Kind::NotFound, message));
        }
        opened.keys.append(key.clone());
        opened.save()?;
        session.output.done(&key_json(key.borrow()), |_| {
            format!("Removed metakey {} of {}", self.meta, key.name())
        })
    }
}
