//! `cenote kdb sget`.

use crate::commands::kdb::documents::file::FileArgs;
use crate::error::{Kind, Result};
use crate::session::Session;

/// Print the value of a key, or a default if the key or the file does not exist; for scripts.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// The key
    name: String,
    /// The default value
    default: String,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        match self.value(session) {
            Ok(value) => session.output.bytes(&value),
            Err(error) if error.kind() == Kind::NotFound => {
                session.output.bytes(self.default.as_bytes())
            }
            Err(error) => Err(error),
        }
    }

    fn value(&self, session: &Session) -> Result<Vec<u8>> {
        let mut opened = self.file.open(session)?;
        Ok(opened.key(&self.name)?.value().as_bytes().to_vec())
    }
}
