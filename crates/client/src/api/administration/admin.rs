//! The store as a whole.

use futures_util::Stream;

use crate::api::lines::lines;
use crate::call::Call;
use crate::{Client, Record, Result};

impl Client {
    /// Counts of the whole store.
    pub async fn stats(&self) -> Result<Record> {
        self.json(Call::get("/v1/stats")).await
    }

    /// The progress of the search for corruption, and the damaged copies; starts a round if `start`.
    pub async fn scrub(&self, start: bool) -> Result<Record> {
        let call = if start {
            Call::post("/v1/scrub").json(&serde_json::json!({}))
        } else {
            Call::get("/v1/scrub")
        };
        self.json(call).await
    }

    /// Gives the store the newest format that the server knows, if all servers over it know that; returns the formats before and after.
    pub async fn upgrade(&self) -> Result<Record> {
        self.json(Call::post("/v1/upgrade").json(&serde_json::json!({}))).await
    }

    /// Checks the store, and this much of its contents; returns one finding per line.
    pub async fn check(
        &self,
        contents_percent: u8,
        repair: bool,
    ) -> Result<impl Stream<Item = Result<Record>> + use<>> {
        let body = serde_json::json!({ "contents_percent": contents_percent, "repair": repair });
        let answer = self.send(Call::post("/v1/check").json(&body)).await?;
        lines(answer)
    }
}
