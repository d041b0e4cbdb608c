//! Change sets: changes of many calls that only their maker sees, committed as one commit or dropped.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::{Client, Result};

/// A change set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeSet {
    /// What [`Client::with_changeset`] takes.
    pub id: String,
    /// Whose it is.
    pub owner: String,
    /// What became of it: `open`, `committed`, `dropped`, `expired`, `conflicted` or `unknown`.
    pub state: String,
    /// It sees the store as it was then.
    pub begun: Timestamp,
    /// When it expires if it is not used; when it ended.
    pub expires: Timestamp,
    /// When it expires however much it is used.
    pub until: Timestamp,
    /// How many changes were made in it.
    pub changes: u64,
    /// The bytes that its commit writes to the catalog.
    pub bytes: u64,
}

impl Client {
    /// Begins a change set, which expires after so long without a call; after three minutes, if nothing is said.
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

    /// What is known of a change set.
    pub async fn changeset(&self, id: &str) -> Result<ChangeSet> {
        self.json(Call::get(&route(id, ""))).await
    }

    /// Counts as a use of a change set, so that it is kept longer.
    pub async fn extend_changeset(&self, id: &str) -> Result<ChangeSet> {
        self.json(Call::post(&route(id, "")).json(&serde_json::json!({})).repeatable()).await
    }

    /// Commits a change set. If the answer is lost, [`Client::changeset`] tells what became of it.
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
