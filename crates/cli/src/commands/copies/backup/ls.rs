//! `cenote backup ls`: the backups in a directory.

use std::path::PathBuf;

use cenote_store::BackupDir;

use crate::error::Result;
use crate::session::Session;
use crate::text::size;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The directory of the backups
    dir: PathBuf,
}

impl Args {
    pub(super) fn run(self, session: &Session) -> Result<()> {
        let dir = BackupDir::open(&self.dir)?;
        for catalog in dir.catalogs()? {
            let line = serde_json::json!({ "name": catalog.name, "catalog_bytes": catalog.size });
            session
                .output
                .item(&line, |_| format!("{}  catalog {}", catalog.name, size(catalog.size)))?;
        }
        Ok(())
    }
}
