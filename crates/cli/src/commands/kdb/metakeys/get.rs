//! `cenote kdb meta-get`.

use serde_json::json;

use super::args::MetakeyArgs;
use crate::commands::kdb::keys::show::lossy;
use crate::error::Result;
use crate::session::Session;

/// Print the value of a metakey.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: MetakeyArgs,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let mut opened = self.which.file.open(session)?;
        let key = opened.key(&self.which.name)?;
        let value = key.meta_value(&self.which.meta).ok_or_else(|| self.which.missing(key))?;
        session
            .output
            .item(&json!({ "meta": self.which.meta, "value": lossy(value) }), |_| lossy(value))
    }
}
