//! `cenote stats`: counts of the whole store.

use crate::error::Result;
use crate::session::Session;

use crate::commands::record;

/// Show counts of the whole store.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let stats = session.client()?.stats().await?;
        session.output.item(&stats, record::lines)
    }
}
