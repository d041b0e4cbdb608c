//! Change sets: changes made by many calls, visible only to their creator until they are committed
//! atomically or dropped.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::{Client, Result};

/// A change set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeSet {
    /// Its id, for [`Client::with_changeset`].
    pub id: String,
    /// The user who created it.
    pub owner: String,
    /// Its state: `open`, `committed`, `dropped`, `expired`, `conflicted` or `unknown`.
    pub state: String,
    /// When it was created; it sees the store as of this time.
    pub begun: Timestamp,
    /// When it expires unless it is used; after its end, when it ended.
    pub expires: Timestamp,
    /// When it expires regardless of use.
    pub until: Timestamp,
    /// The number of changes made in it.
    pub changes: u64,
    /// The bytes that its commit writes to the catalog.
    pub bytes: u64,
}

impl Client {
    /// Creates a change set, which expires after this time without a call; by default after three minutes.
    pub async fn begin_changeset(&self, idle: Option<Duration>) -> Result<ChangeSet> {
        let body = match idle {
            Some(idle) => serde_json::json!({ "idle_seconds": idle.as_secs() }),
            None => serde_json::json!({}),
        };
        self.json(Call::post("/v1/changesets").json(&body)).await
    }

    /// The caller's open change sets.
    pub async fn changesets(&self) -> Result<Vec<ChangeSet>> {
        self.items(Call::get("/v1/changesets")).await
    }

    /// The state of a change set.
    pub async fn changeset(&self, id: &str) -> Result<ChangeSet> {
        self.json(Call::get(&route(id, ""))).await
    }

    /// Extends the life of a change set, like any other use of it.
    pub async fn extend_changeset(&self, id: &str) -> Result<ChangeSet> {
        self.json(Call::post(&route(id, "")).json(&serde_json::json!({})).repeatable()).await
    }

    /// Commits a change set. If the response is lost, [`Client::changeset`] returns the outcome.
    pub async fn commit_changeset(&self, id: &str) -> Result<ChangeSet> {
        self.json(Call::post(&route(id, "/commit")).json(&serde_json::json!({}))).await
    }

    /// Drops a change set.
    pub async fn drop_changeset(&self, id: &str) -> Result<()> {
        self.done(Call::delete(&route(id, ""))).await
    }
}

fn route(id: &str, rest: &str) -> String {
    let id = percent_encoding::utf8_percent_encode(id, percent_encoding::NON_ALPHANUMERIC);
    format!("/v1/changesets/{id}{rest}")
}
