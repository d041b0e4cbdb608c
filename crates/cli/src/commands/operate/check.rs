//! `cenote check`: verifies the consistency of a store.

use cenote_client::Record;
use futures_util::TryStreamExt;

use crate::commands::record;
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Recompute indexes, counters and references, and verify contents; prints one line per difference.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The percentage of contents to read and compare with their checksums
    #[arg(long, value_name = "PERCENT", default_value_t = 100, value_parser = clap::value_parser!(u8).range(0..=100))]
    contents: u8,
    /// Repair everything that can be derived from primary records
    #[arg(long)]
    repair: bool,
    /// First accept the loss of the last commits of a store in a directory, so that it can be opened again
    #[arg(long)]
    accept_loss: bool,
}

const KEPT: &str = "damaged files are kept as catalog/*.damaged";

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        if let Some(lost) = self.accept_loss.then(|| session.salvage()).transpose()?.flatten() {
            session.warn(&format!("{lost} permanently"), Some(KEPT.to_owned()));
        }
        let client = session.client()?;
        let mut findings = std::pin::pin!(client.check(self.contents, self.repair).await?);
        let (mut found, mut left) = (0, 0);
        while let Some(finding) = findings.try_next().await? {
            session.output.item(&finding, record::row)?;
            found += 1;
            left += u64::from(!is_repaired(&finding));
        }
        match left {
            0 if found == 0 => session
                .output
                .done(&serde_json::json!({ "findings": 0 }), |_| "no differences found".into()),
            0 => Ok(()),
            left => {
                Err(CliError::new(Kind::Found, format!("{left} of {found} differences remain"))
                    .hint(self.next()))
            }
        }
    }

    fn next(&self) -> &'static str {
        match self.repair {
            true => {
                "the remaining differences cannot be repaired from other records: restore a backup"
            }
            false => "use --repair to repair everything that can be derived",
        }
    }
}

fn is_repaired(finding: &Record) -> bool {
    finding.get("repaired").and_then(serde_json::Value::as_bool).unwrap_or(false)
}
