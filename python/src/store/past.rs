//! The store as of a moment: a time, or a position of the change feed.

use std::time::Duration;

use cenote_client::{At, Client, Done, Error, Job, Kind, PastEntry, RestorePast};
use futures_util::{Stream, TryStreamExt};
use pyo3::prelude::*;
use serde_json::{Value, json};

use super::answer::Answer;
use super::connection::Connection;
use super::descriptions::{Conditions, search};
use super::error::Failure;
use super::files::{collect, options};
use super::pending::Pending;
use super::rows::{Rows, send, send_error};

/// The interval at which a job is polled.
const LOOK: Duration = Duration::from_millis(100);

#[pymethods]
impl Connection {
    fn stat_as_of(&self, path: String, moment: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        let call = async move { client.stat_as_of(&path, &moment).await };
        Ok(Pending::new(async { call.await.map(|found| Answer::of(&found)) }))
    }

    fn ls_as_of(&self, path: String, moment: String) -> Result<Rows, Failure> {
        let client = self.client()?;
        Ok(Rows::new(|to| async move {
            send(rows(client.list_as_of(&path, &moment)), to).await;
        }))
    }

    fn walk_as_of(&self, path: String, moment: String) -> Result<Rows, Failure> {
        let client = self.client()?;
        Ok(Rows::new(|to| async move {
            match client.walk_as_of(&path, &moment).await {
                Ok(entries) => send(rows(entries), to).await,
                Err(error) => send_error(error, to).await,
            }
        }))
    }

    #[pyo3(signature = (moment, under, conditions, name=None, kind=None))]
    fn find_as_of(
        &self,
        moment: String,
        under: String,
        conditions: Conditions,
        name: Option<String>,
        kind: Option<String>,
    ) -> Result<Rows, Failure> {
        let (client, search) = (self.client()?, search(under, conditions, name, kind)?);
        Ok(Rows::new(|to| async move {
            match client.search_as_of(&search, &moment).await {
                Ok(entries) => send(rows(entries), to).await,
                Err(error) => send_error(error, to).await,
            }
        }))
    }

    fn meta_as_of(&self, path: String, moment: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        let call = async move { client.meta_as_of(&path, &moment).await };
        Ok(Pending::new(async { call.await.map(|statements| Answer::of(&statements)) }))
    }

    #[pyo3(signature = (path, moment, start=0, stop=None, if_match=None))]
    fn read_as_of(
        &self,
        path: String,
        moment: String,
        start: u64,
        stop: Option<u64>,
        if_match: Option<String>,
    ) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move {
            let options = options((start, stop), if_match, None);
            let content = client.read_as_of(&path, &moment, &options).await?;
            collect(content, &path).await.map(Answer::Bytes)
        }))
    }

    /// Restores what was at a path to another path, which must be free; waits until it is restored.
    #[pyo3(signature = (path, moment, to, recursive, parents, partial))]
    fn restore_as_of(
        &self,
        path: String,
        moment: String,
        to: String,
        recursive: bool,
        parents: bool,
        partial: bool,
    ) -> Result<Pending, Failure> {
        let client = self.client()?;
        let restore =
            RestorePast { path, as_of: moment, to: to.clone(), recursive, parents, partial };
        Ok(Pending::new(async move {
            if let Done::Job(job) = client.restore_as_of(&restore).await? {
                finish(&client, job).await?;
            }
            client.stat(&At::Path(to)).await.map(|restored| Answer::of(&restored))
        }))
    }
}

/// Waits for the end of a job. One that failed in part has restored the rest if that was requested, and nothing
/// otherwise.
async fn finish(client: &Client, mut job: Job) -> Result<(), Error> {
    while !job.finished {
        tokio::time::sleep(LOOK).await;
        job = client.job(job.job).await?;
    }
    match job.fault {
        Some(fault) if job.failed > 0 => {
            let message = format!("{} could not be restored; the last error: {fault}", job.failed);
            Err(Error::new(Kind::Expired, message)
                .with_hint("with partial=True, everything else is restored"))
        }
        _ => Ok(()),
    }
}

/// Rows of resources; one that is not kept has its path and id, and the kind `lost`.
fn rows(
    entries: impl Stream<Item = cenote_client::Result<PastEntry>>,
) -> impl Stream<Item = cenote_client::Result<Value>> {
    entries.map_ok(|entry| match entry {
        PastEntry::Kept(resource) => json!(resource),
        PastEntry::Lost(lost) => {
            let name = lost.path.rsplit('/').next();
            json!({ "id": lost.id, "path": lost.path, "name": name, "kind": "lost" })
        }
    })
}
