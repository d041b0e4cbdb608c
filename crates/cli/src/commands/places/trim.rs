//! `cenote trim`: fewer copies of contents.

use cenote_client::{At, Done};
use serde_json::json;

use super::job;
use crate::error::Result;
use crate::glob;
use crate::place::StorePath;
use crate::session::Session;

/// Remove replicas of objects, but never the last good one.
///
/// Without --replica and --place, stale replicas are removed, then good ones, newest first, until --keep replicas are left.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Paths in the store, or patterns
    #[arg(required = true)]
    paths: Vec<StorePath>,
    /// Remove only the replica with this number
    #[arg(long, value_name = "NUMBER", conflicts_with = "recursive")]
    replica: Option<u32>,
    /// Remove only replicas in this place or group
    #[arg(long, value_name = "PLACE")]
    place: Option<String>,
    /// The minimum number of good replicas to keep
    #[arg(long, default_value_t = 1)]
    keep: usize,
    /// Include all objects below collections
    #[arg(long, short)]
    recursive: bool,
    /// Print what would be removed, without removing anything
    #[arg(long, short = 'n', conflicts_with = "recursive")]
    dry_run: bool,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        let trim = cenote_client::Trim {
            replica: self.replica,
            place: self.place.clone(),
            keep: self.keep,
            recursive: self.recursive,
            dry_run: self.dry_run,
        };
        for resource in glob::expand(client, &self.paths).await? {
            let path = &resource.path;
            match client.trim(&At::from(path), &trim).await? {
                Done::Job(begun) => job::follow(session, client, begun).await?,
                Done::Now(done) => self.report(session, path, &done.trimmed)?,
            }
        }
        Ok(())
    }

    fn report(&self, session: &Session, path: &str, numbers: &[u32]) -> Result<()> {
        let word = if self.dry_run { "would remove" } else { "removed" };
        for number in numbers {
            let line = json!({ "action": "trim", "path": path, "replica": number, "dry_run": self.dry_run });
            session.output.done(&line, |_| format!("{word} replica {number} of {path}"))?;
        }
        Ok(())
    }
}
