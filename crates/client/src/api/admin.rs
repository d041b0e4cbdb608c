//! The store as a whole.

use futures_util::Stream;
use serde::Deserialize;

use super::lines::lines;
use crate::call::Call;
use crate::{Client, Record, Result};

/// A page of the change feed.
#[derive(Debug, Clone, Deserialize)]
pub struct Changes {
    /// What changed, the oldest first.
    pub items: Vec<Record>,
    /// Where to go on from.
    pub next: String,
    /// Whether there is more now.
    pub more: bool,
}

impl Client {
    /// What changed since a position, below a path if one is given; waits up to `wait` seconds for something to happen.
    pub async fn changes(
        &self,
        below: Option<&str>,
        since: Option<&str>,
        wait: u32,
    ) -> Result<Changes> {
        let call = Call::get("/v1/changes").query_opt("path", below).query_opt("since", since);
        self.json(call.query_opt("wait", (wait > 0).then_some(wait))).await
    }

    /// Counts of the whole store.
    pub async fn stats(&self) -> Result<Record> {
        self.json(Call::get("/v1/stats")).await
    }

    /// How far the search for rot is, and which copies are damaged; begins a round of it if that is asked for.
    pub async fn scrub(&self, start: bool) -> Result<Record> {
        let call = if start {
            Call::post("/v1/scrub").json(&serde_json::json!({}))
        } else {
            Call::get("/v1/scrub")
        };
        self.json(call).await
    }

    /// Checks the store, and this much of its contents; gives one finding a line.
    pub async fn check(
        &self,
        contents_percent: u8,
        repair: bool,
    ) -> Result<impl Stream<Item = Result<Record>> + use<>> {
        let body = serde_json::json!({ "contents_percent": contents_percent, "repair": repair });
        let answer = self.send(Call::post("/v1/check").json(&body)).await?;
        Ok(lines(answer.into_body()))
    }
}
