//! `cenote kdb meta-set`.

use super::file::wrong;
use super::metakey::MetakeyArgs;
use super::show::key_json;
use crate::error::Result;
use crate::session::Session;

/// Give a key a metakey.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: MetakeyArgs,
    /// Its value
    value: String,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let mut opened = self.which.file.open(session)?;
        let mut key = opened.key(&self.which.name)?.to_key();
        key.set_meta(&self.which.meta, &self.value)
            .map_err(|error| wrong(format!("metakey `{}`: {error}", self.which.meta)))?;
        opened.keys.append(key.clone());
        opened.save()?;
        session.output.done(&key_json(key.borrow()), |_| {
            format!("Set metakey {} of {} to \"{}\"", self.which.meta, key.name(), self.value)
        })
    }
}
