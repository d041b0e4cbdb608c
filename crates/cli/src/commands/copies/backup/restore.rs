//! `cenote backup restore`: a store from a backup.

use std::path::PathBuf;
use std::sync::Arc;

use cenote_server::embedded::{Backing, restore_dir};
use cenote_store::{BackupDir, CopyChoices};

use crate::commands::copies::report::{Summary, not_copied, watch};
use crate::connect::not_opened;
use crate::error::Result;
use crate::session::Session;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The directory of the backups
    dir: PathBuf,
    /// The directory of the store: empty, or one that does not exist yet
    to: PathBuf,
    /// The backup, by the name that `cenote backup ls` shows
    #[arg(long, value_name = "NAME")]
    at: Option<String>,
    /// Keep the catalog in a PostgreSQL database: postgres://USER@HOST/DATABASE; with ?sslmode=require over TLS
    #[arg(long, value_name = "URL")]
    catalog: Option<String>,
    /// Keep the contents in a bucket or another directory: s3://BUCKET/PREFIX, gs://..., az://..., file:///...
    #[arg(long, value_name = "URL")]
    contents: Option<String>,
    /// Read all restored contents again, and compare their digests
    #[arg(long)]
    read_back: bool,
    /// Leave out contents that are damaged or missing in the backup
    #[arg(long)]
    leave_damaged: bool,
}

impl Args {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let dir = Arc::new(BackupDir::open(&self.dir)?);
        let catalog = dir.catalog(self.at.as_deref())?;
        let backing = Backing { catalog: self.catalog.clone(), contents: self.contents.clone() };
        backing.probe().await.map_err(not_opened)?;
        let choices = CopyChoices { read_back: self.read_back, leave_damaged: self.leave_damaged };
        let watch = watch(session);
        let restored = restore_dir(&dir, &catalog, &self.to, backing, choices, &watch).await;
        let (copied, down) = restored.map_err(not_copied)?;
        if !down.is_empty() {
            let message =
                format!("these places are down in the restored store: {}", down.join(", "));
            let hint = "the original may use them; all contents are in the main place";
            session.warn(&message, Some(hint.to_owned()));
        }
        let (summary, to) = (Summary::new(&self.to, &copied), self.to.display().to_string());
        session.output.done(&summary, |summary| {
            format!(
                "{}\nrestored       {} to {to}\nnext           cenote --store {to} check",
                summary.shown(),
                catalog.name
            )
        })
    }
}
