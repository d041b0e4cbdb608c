//! `cenote kdb export`.

use cenote_keyset::{Format, WriteOptions};

use super::file::{FileArgs, format, no_key, unwritable};
use crate::error::Result;
use crate::session::Session;

/// Print a key and all keys below it in a format for other programs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// The key to start at; the default is all keys
    name: Option<String>,
    /// The format to print
    #[arg(long, value_parser = format, default_value = "json")]
    to: Format,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let opened = self.file.open(session)?;
        let (root, keys) = match &self.name {
            None => (opened.parent.clone(), opened.keys),
            Some(name) => {
                let root = opened.name(name)?;
                let keys: cenote_keyset::KeySet =
                    opened.keys.hierarchy(&root).map(|key| key.to_key()).collect();
                if keys.is_empty() {
                    return Err(no_key(&root));
                }
                (root, keys)
            }
        };
        let mut bytes = Vec::new();
        cenote_keyset::write(&keys, &root, self.to, WriteOptions::default(), &mut bytes)
            .map_err(unwritable)?;
        session.output.bytes(&bytes)
    }
}
