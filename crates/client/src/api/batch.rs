//! Many small files in one request, in either direction.

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use http::header::CONTENT_TYPE;
use serde::Deserialize;

use super::lines::lines;
use crate::call::{Call, Payload};
use crate::error::Problem;
use crate::{Client, Error, Resource, Result};

/// The outcome of one entry of a batch.
#[derive(Debug)]
pub struct BatchLine {
    /// Its path in the store.
    pub path: String,
    /// The resource, or why it could not be put.
    pub outcome: Result<Resource>,
}

#[derive(Deserialize)]
struct Line {
    path: String,
    resource: Option<Resource>,
    problem: Option<Problem>,
}

impl Line {
    fn outcome(self) -> Result<BatchLine> {
        let outcome = match (self.resource, self.problem) {
            (Some(resource), _) => Ok(resource),
            (None, Some(problem)) => Err(problem.into()),
            (None, None) => return Err(Error::protocol("a line says nothing of its entry")),
        };
        Ok(BatchLine { path: self.path, outcome })
    }
}

impl Client {
    /// Puts the entries of a tar archive (POSIX pax) below the collection `path`, storing their bytes in `place` if
    /// given; the lines are in the order of the entries, each sent once its entry is durable.
    pub async fn batch(
        &self,
        path: &str,
        place: Option<&str>,
        archive: Bytes,
    ) -> Result<impl Stream<Item = Result<BatchLine>> + use<>> {
        let call = Call::post("/v1/batch").query("path", path).query_opt("place", place);
        let call = call.body(Payload::Bytes(archive));
        let call = call.header(CONTENT_TYPE, "application/x-tar")?.repeatable();
        let answer = self.send(call).await?;
        Ok(lines::<Line>(answer.into_body()).map(|line| line.and_then(Line::outcome)))
    }

    /// The objects with these ids, at most 1,000, as a tar archive in memory (POSIX pax); missing and unreadable ones
    /// are left out.
    pub(crate) async fn archive_of(&self, ids: &[u64]) -> Result<Bytes> {
        let call = Call::post("/v1/archive").json(&serde_json::json!({ "ids": ids }));
        self.bytes(call.repeatable()).await
    }
}
