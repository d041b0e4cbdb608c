//! `cenote kdb mv`.

use serde_json::json;

use super::cp::TransferArgs;
use super::show::keys;
use crate::error::Result;
use crate::session::Session;

/// Rename a key.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    transfer: TransferArgs,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let mut opened = self.transfer.file.open(session)?;
        let transfer = self.transfer.plan(&opened)?;
        for key in &transfer.sources {
            opened.keys.remove(&key.name().to_name());
        }
        transfer.check(&opened.keys, self.transfer.force())?;
        opened.keys.append_all(&transfer.copies);
        opened.save()?;
        let count = transfer.copies.len();
        session.output.done(&json!({ "moved": count }), |_| format!("Moved {}", keys(count)))
    }
}
