//! `cenote restore`: what was at a path at a moment, under another name.

use cenote_client::{Done, Job, RestorePast};

use crate::commands::places::job;
use crate::error::Result;
use crate::moment::AsOf;
use crate::place::StorePath;
use crate::session::Session;

/// Restore what was at a path at some time, under another name.
///
/// `restore -r /lab --as-of 3d --to /lab.before` restores /lab as it was three days ago: contents (shared, not
/// copied), metadata, modes and times. The restored resources are new ones, owned by you. They appear all at once; if anything
/// was not kept, nothing is restored. What was removed recently can also be restored with `cenote trash`, with ids and access.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its path at that time
    path: StorePath,
    /// When: a time (2026-03-01, "2026-03-01 14:30", 3d for three days ago), or a position of the change feed
    #[arg(long, value_name = "TIME|POSITION")]
    as_of: AsOf,
    /// The path to restore it to, which must not exist
    #[arg(long, value_name = "PATH")]
    to: StorePath,
    /// Restore a collection with everything below it
    #[arg(long, short)]
    recursive: bool,
    /// Create missing parent collections
    #[arg(long, short)]
    parents: bool,
    /// Leave out what was not kept, or what you may not read
    #[arg(long)]
    partial: bool,
}

impl Args {
    fn hint(&self, job: &Job) -> &'static str {
        match (self.partial, job.done) {
            (true, 0) => "nothing was restored, since nothing below it was kept",
            (true, _) => "the others were restored",
            (false, _) => "nothing was restored; `--partial` leaves out what was not kept",
        }
    }

    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        let restore = RestorePast {
            path: self.path.to_string(),
            as_of: self.as_of.text(),
            to: self.to.to_string(),
            recursive: self.recursive,
            parents: self.parents,
            partial: self.partial,
        };
        match client.restore_as_of(&restore).await? {
            Done::Now(restored) => {
                session.output.done(&restored, |restored| format!("restored {}", restored.path))
            }
            Done::Job(begun) => {
                job::follow_with(session, client, begun, |job| self.hint(job)).await
            }
        }
    }
}
