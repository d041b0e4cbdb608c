//! Work that a server does in the background.

use std::time::Duration;

use cenote_client::{Client, Error, Job, Kind};

/// The interval at which a job is polled.
const LOOK: Duration = Duration::from_millis(100);

/// Waits for the end of a job. One that failed in part is a failure of this kind, with this hint.
pub(super) async fn finish(
    client: &Client,
    mut job: Job,
    (kind, hint): (Kind, &str),
) -> Result<(), Error> {
    while !job.finished {
        tokio::time::sleep(LOOK).await;
        job = client.job(job.job).await?;
    }
    match job.fault {
        Some(fault) if job.failed > 0 => {
            let message = format!("{}: {} failed; the last error: {fault}", job.kind, job.failed);
            Err(Error::new(kind, message).with_hint(hint))
        }
        _ => Ok(()),
    }
}
