//! `cenote kdb get`.

use super::show::key_json;
use crate::commands::kdb::documents::file::FileArgs;
use crate::error::Result;
use crate::session::Session;

/// Print the raw bytes of the value of a key.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// The key
    name: String,
    /// Print no newline after the value
    #[arg(short = 'n', long)]
    no_newline: bool,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let mut opened = self.file.open(session)?;
        let key = opened.key(&self.name)?;
        if session.output.is_json() {
            return session.output.item(&key_json(key), |_| String::new());
        }
        session.output.bytes(key.value().as_bytes())?;
        if self.no_newline { Ok(()) } else { session.output.bytes(b"\n") }
    }
}
