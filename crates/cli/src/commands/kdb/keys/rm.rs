//! `cenote kdb rm`.

use cenote_keyset::KeySet;
use serde_json::json;

use super::show::keys;
use crate::commands::kdb::documents::file::{FileArgs, no_key, retrying};
use crate::error::Result;
use crate::session::Session;

/// Remove a key.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// The key
    name: String,
    /// Also remove all keys below it
    #[arg(short, long)]
    recursive: bool,
    /// Do not fail if the key does not exist
    #[arg(short, long)]
    force: bool,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let removed = retrying(|| self.remove(session))?;
        if removed == 0 {
            return Ok(());
        }
        session
            .output
            .done(&json!({ "removed": removed }), |_| format!("Removed {}", keys(removed)))
    }

    fn remove(&self, session: &Session) -> Result<usize> {
        let mut opened = self.file.open(session)?;
        let name = opened.name(&self.name)?;
        let removed = if self.recursive {
            opened.keys.cut(&name)
        } else {
            let found = opened.keys.lookup(&name).map(|key| key.name().to_name());
            found.and_then(|name| opened.keys.remove(&name)).into_iter().collect::<KeySet>()
        };
        match removed.len() {
            0 if !self.force => return Err(no_key(&name)),
            0 => {}
            _ => opened.save()?,
        }
        Ok(removed.len())
    }
}
