//! The store as of a moment: a time, or a position of the change feed.

use cenote_client::{At, Done, Kind, PastEntry, RestorePast};
use futures_util::{Stream, TryStreamExt};
use pyo3::prelude::*;
use serde_json::{Value, json};

use super::answer::Answer;
use super::connection::Connection;
use super::descriptions::{Conditions, search};
use super::error::Failure;
use super::files::{collect, options};
use super::jobs::finish;
use super::pending::Pending;
use super::rows::{Rows, send, send_error};

/// What a restoration that failed in part is: it has restored the rest if that was requested, and nothing otherwise.
const PARTIAL: (Kind, &str) = (Kind::Expired, "with partial=True, everything else is restored");

#[pymethods]
impl Connection {
    /// The position of a moment: several calls with it are about the same state.
    fn position_of(&self, moment: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::of(async move { client.position_of(&moment).await }))
    }

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

    #[pyo3(signature = (moment, under, conditions, name=None, kind=None, text=None))]
    fn find_as_of(
        &self,
        moment: String,
        under: String,
        conditions: Conditions,
        name: Option<String>,
        kind: Option<String>,
        text: Option<String>,
    ) -> Result<Rows, Failure> {
        let (client, search) = (self.client()?, search(under, conditions, name, kind, text)?);
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
                finish(&client, job, PARTIAL).await?;
            }
            client.stat(&At::Path(to)).await.map(|restored| Answer::of(&restored))
        }))
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
