//! `cenote kdb meta-get`.

use serde_json::json;

use super::file::FileArgs;
use super::show::lossy;
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Print the value of a metakey.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// The key
    name: String,
    /// The metakey, with or without `meta:/`
    meta: String,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let mut opened = self.file.open(session)?;
        let key = opened.key(&self.name)?;
        let value = key.meta_value(&self.meta).ok_or_else(|| {
            let message = format!("`{}` has no metakey `{}`", key.name(), self.meta);
            CliError::new(Kind::NotFound, message)
        })?;
        session.output.item(&json!({ "meta": self.meta, "value": lossy(value) }), |_| lossy(value))
    }
}
