//! `cenote kdb meta-rm`.

use cenote_keyset::Key;

use super::args::MetakeyArgs;
use crate::commands::kdb::documents::file::{retrying, wrong};
use crate::commands::kdb::keys::show::key_json;
use crate::error::Result;
use crate::session::Session;

/// Remove a metakey of a key.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: MetakeyArgs,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let key = retrying(|| self.remove(session))?;
        session.output.done(&key_json(key.borrow()), |_| {
            format!("Removed metakey {} of {}", self.which.meta, key.name())
        })
    }

    fn remove(&self, session: &Session) -> Result<Key> {
        let mut opened = self.which.file.open(session)?;
        let mut key = opened.key(&self.which.name)?.to_key();
        let removed = key.remove_meta(&self.which.meta);
        if !removed.map_err(|error| wrong(format!("metakey `{}`: {error}", self.which.meta)))? {
            return Err(self.which.missing(key.borrow()));
        }
        opened.keys.append(key.clone());
        opened.save()?;
        Ok(key)
    }
}
