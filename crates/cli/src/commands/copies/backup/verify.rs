//! `cenote backup verify`: reads backups.

use std::path::PathBuf;

use cenote_store::BackupDir;

use crate::commands::copies::report::watch;
use crate::error::{CliError, Kind, Result};
use crate::session::Session;
use crate::text::size;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The directory of the backups
    dir: PathBuf,
    /// Only this one, by the name that `cenote backup ls` shows
    #[arg(long, value_name = "NAME")]
    at: Option<String>,
    /// Remove contents that are damaged, so that the next backup copies them again
    #[arg(long)]
    remove_damaged: bool,
}

impl Args {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let dir = BackupDir::open(&self.dir)?;
        // A directory without any backup is an error: who relies on it would otherwise learn that only from a restore.
        let newest = dir.catalog(self.at.as_deref())?;
        let catalogs = match self.at {
            Some(_) => vec![newest],
            None => dir.catalogs()?,
        };
        let mut faults = Vec::new();
        let mut report = |fault| faults.push(fault);
        let verified = dir.verify(&catalogs, &watch(session), &mut report).await?;
        for fault in &faults {
            let line = serde_json::json!({ "what": fault.what, "detail": fault.detail });
            session.output.item(&line, |_| format!("{}: {}", fault.what, fault.detail))?;
        }
        if self.remove_damaged {
            dir.remove_damaged(&faults).await?;
        }
        if !faults.is_empty() {
            let message = format!("{} parts of the backups are damaged or missing", faults.len());
            return Err(CliError::new(Kind::Found, message).hint(self.next()));
        }
        let done = serde_json::json!({
            "backups": catalogs.len(), "rows": verified.rows,
            "contents": verified.blobs, "bytes": verified.bytes,
        });
        session.output.done(&done, |_| {
            format!(
                "{} backups are whole: {} rows, {} contents ({})",
                catalogs.len(),
                verified.rows,
                verified.blobs,
                size(verified.bytes)
            )
        })
    }

    fn next(&self) -> &'static str {
        match self.remove_damaged {
            true => "bring the contents again with `cenote backup create`",
            false => {
                "use --remove-damaged, and then `cenote backup create`, to bring contents again"
            }
        }
    }
}
