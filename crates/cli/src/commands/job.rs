//! What verbs share that begin a job in the store: waiting for it, and saying how it went.

use std::time::Duration;

use cenote_client::{Client, Job};

use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// How long to wait between two looks at a job of a server.
const LOOK: Duration = Duration::from_millis(250);

/// Waits for a job to end, which in a local store is done here, and prints how it went. Stopped on the way, a
/// server goes on with it; a local store does with the next job.
pub(super) async fn follow(session: &Session, client: &Client, begun: Job) -> Result<()> {
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
            Err(CliError::new(Kind::Failed, message)
                .hint("run it again: completed items are skipped"))
        }
        _ => Ok(()),
    }
}
