//! For commands that start a job in the store: waits for the job and reports its result.

use std::time::Duration;

use cenote_client::{Client, Job};

use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// The interval at which a job of a server is polled.
const LOOK: Duration = Duration::from_millis(250);

/// Waits for a job to end, which in a local store is done here, and prints how it went. Stopped on the way, a
/// server continues it; a local store does so with the next job.
pub(crate) async fn follow(session: &Session, client: &Client, begun: Job) -> Result<()> {
    follow_with(session, client, begun, |_| "run it again: completed items are skipped").await
}

/// The same with another hint for a job that failed, at least in part.
pub(crate) async fn follow_with(
    session: &Session,
    client: &Client,
    begun: Job,
    hint: impl FnOnce(&Job) -> &'static str,
) -> Result<()> {
    let mut job = begun;
    loop {
        session.settle().await?;
        job = client.job(job.job).await?;
        if job.finished {
            break;
        }
        tokio::time::sleep(LOOK).await;
    }
    session
        .output
        .done(&job, |job| format!("{}: {} done, {} failed", job.kind, job.done, job.failed))?;
    match &job.fault {
        Some(fault) if job.failed > 0 => {
            let message = format!("{} failed; the last error: {fault}", job.failed);
            Err(CliError::new(Kind::Failed, message).hint(hint(&job)))
        }
        _ => Ok(()),
    }
}
