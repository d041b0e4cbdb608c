//! Versions, and the change feed.

use cenote_client::{At, Attributes, Client, Event, Result, Retention, VersionChange};
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use pyo3::prelude::*;
use serde_json::{Value, json};

use super::answer::Answer;
use super::connection::Connection;
use super::error::Failure;
use super::pending::Pending;
use super::rows::{Rows, send};

/// How many versions are kept: the newest, and those of days, weeks and months.
type Keep = (Option<u32>, Option<u32>, Option<u32>, Option<u32>);

#[pymethods]
impl Connection {
    fn versions(&self, path: String) -> std::result::Result<Pending, Failure> {
        let client = self.client()?;
        let call = async move { client.versions(&At::Path(path)).await };
        Ok(Pending::new(async { call.await.map(|versions| Answer::of(&versions)) }))
    }

    #[pyo3(signature = (path, label=None))]
    fn keep_version(
        &self,
        path: String,
        label: Option<String>,
    ) -> std::result::Result<Pending, Failure> {
        self.change_versions(path, VersionChange::Keep { label, time: None, another: false })
    }

    fn restore_version(&self, path: String, version: u64) -> std::result::Result<Pending, Failure> {
        self.change_versions(path, VersionChange::Restore { version })
    }

    #[pyo3(signature = (path, version, label=None))]
    fn label_version(
        &self,
        path: String,
        version: u64,
        label: Option<String>,
    ) -> std::result::Result<Pending, Failure> {
        self.change_versions(path, VersionChange::Label { version, label })
    }

    fn prune_versions(&self, path: String, keep: Keep) -> std::result::Result<Pending, Failure> {
        self.change_versions(path, VersionChange::Prune(retention(keep)))
    }

    /// Sets when versions are kept below a collection, and which ones.
    fn set_versioning(
        &self,
        path: String,
        policy: String,
        keep: Keep,
    ) -> std::result::Result<Pending, Failure> {
        let (versioning, retention) = (Some(policy), retention(keep));
        let attributes = Attributes { versioning, retention, ..Attributes::default() };
        let client = self.client()?;
        Ok(Pending::of(async move { client.set_attributes(&At::Path(path), &attributes).await }))
    }

    /// Changes since a position. If `follow`, as they happen, without an end.
    #[pyo3(signature = (below, since, follow))]
    fn changes(
        &self,
        below: Option<String>,
        since: Option<String>,
        follow: bool,
    ) -> std::result::Result<Rows, Failure> {
        let client = self.client()?;
        let below = below.map(At::Path);
        Ok(match follow {
            true => Rows::new(move |to| async move {
                send(client.follow(below, since).map_ok(|event| row(&event)), to).await;
            }),
            false => Rows::new(move |to| async move { send(past(client, below, since), to).await }),
        })
    }
}

impl Connection {
    fn change_versions(
        &self,
        path: String,
        change: VersionChange,
    ) -> std::result::Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move {
            client.change_versions(&At::Path(path), &change).await.map(|()| Answer::none())
        }))
    }
}

fn retention((last, daily, weekly, monthly): Keep) -> Retention {
    Retention { last, daily, weekly, monthly }
}

/// All changes that there are now, page by page, and the position after each page.
fn past(
    client: Client,
    below: Option<At>,
    since: Option<String>,
) -> impl Stream<Item = Result<Value>> + Send {
    let pages = stream::try_unfold(Some((client, below, since)), |state| async {
        let Some((client, below, since)) = state else { return Ok(None) };
        let page = client.changes(below.as_ref(), since.as_deref(), 0).await?;
        let end = Event::Position(page.next.clone());
        let events = page.items.into_iter().map(Event::Change).chain([end]);
        let rows: Vec<Result<Value>> = events.map(|event| Ok(row(&event))).collect();
        let next = page.more.then_some((client, below, Some(page.next)));
        Ok::<_, cenote_client::Error>(Some((stream::iter(rows), next)))
    });
    pages.try_flatten().boxed()
}

/// A change, or a position up to which all changes have been reported; that access changed somewhere is one, too.
fn row(event: &Event) -> Value {
    match event {
        Event::Change(change) => json!(change),
        Event::Access(position) | Event::Position(position) => json!({ "position": position }),
    }
}
