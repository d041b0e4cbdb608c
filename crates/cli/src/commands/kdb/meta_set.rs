//! `cenote kdb meta-set`.

use super::file::{FileArgs, wrong};
use super::show::key_json;
use crate::error::Result;
use crate::session::Session;

/// Give a key a metakey.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// The key
    name: String,
    /// The metakey, with or without `meta:/`
    meta: String,
    /// Its value
    value: String,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let mut opened = self.file.open(session)?;
        let mut key = opened.key(&self.name)?.to_key();
        key.set_meta(&self.meta, &self.value)
            .map_err(|error| wrong(format!("metakey `{}`: {error}", self.meta)))?;
        opened.keys.append(key.clone());
        opened.save()?;
        session.output.done(&key_json(key.borrow()), |_| {
            format!("Set metakey {} of {} to \"{}\"", self.meta, key.name(), self.value)
        })
    }
}
