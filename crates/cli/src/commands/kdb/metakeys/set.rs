//! `cenote kdb meta-set`.

use cenote_keyset::Key;

use super::args::MetakeyArgs;
use crate::commands::kdb::documents::file::{retrying, wrong};
use crate::commands::kdb::keys::show::key_json;
use crate::error::Result;
use crate::session::Session;

/// Set a metakey of a key; a missing file or key is created.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: MetakeyArgs,
    /// Its value
    value: String,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let key = retrying(|| self.set(session))?;
        session.output.done(&key_json(key.borrow()), |_| {
            format!("Set metakey {} of {} to \"{}\"", self.which.meta, key.name(), self.value)
        })
    }

    fn set(&self, session: &Session) -> Result<Key> {
        let mut opened = self.which.file.open_or_new(session)?;
        let mut key = opened.key_or_new(&self.which.name)?;
        key.set_meta(&self.which.meta, &self.value)
            .map_err(|error| wrong(format!("metakey `{}`: {error}", self.which.meta)))?;
        opened.keys.append(key.clone());
        opened.save()?;
        Ok(key)
    }
}
