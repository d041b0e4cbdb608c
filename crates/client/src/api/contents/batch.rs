//! Many small files in one request, in either direction.

use std::io::Read;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use http::header::CONTENT_TYPE;
use serde::Deserialize;

use crate::api::lines::lines;
use crate::call::{Call, Payload};
use crate::error::Problem;
use crate::transfer::labels;
use crate::{Client, Error, Resource, Result};

/// The outcome of one entry of a batch.
#[derive(Debug)]
pub struct BatchLine {
    /// Its path in the store.
    pub path: String,
    /// The resource, or why it could not be put.
    pub outcome: Result<Resource>,
}

/// A content that was read in a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmallContent {
    /// The id of the object.
    pub id: u64,
    /// The tag of the content.
    pub etag: String,
    /// The bytes.
    pub bytes: Bytes,
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
            (None, None) => {
                return Err(Error::protocol("a line does not say which entry it is about"));
            }
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
        Ok(lines::<Line>(answer)?.map(|line| line.and_then(Line::outcome)))
    }

    /// The contents of the objects with these ids, at most 1,000, in one request; missing and unreadable ones are left out.
    pub async fn small_contents(&self, ids: &[u64]) -> Result<Vec<SmallContent>> {
        let archive = self.archive_of(ids).await?;
        let mut found = Vec::new();
        let mut archive = tar::Archive::new(archive.as_ref());
        for entry in archive.entries().into_iter().flatten() {
            let mut entry = entry.map_err(Error::protocol)?;
            let Some((id, etag)) = labels(&mut entry) else { continue };
            let mut bytes = Vec::with_capacity(entry.size() as usize);
            entry.read_to_end(&mut bytes).map_err(Error::protocol)?;
            found.push(SmallContent { id, etag, bytes: bytes.into() });
        }
        Ok(found)
    }

    /// The objects with these ids, at most 1,000, as a tar archive in memory (POSIX pax); missing and unreadable ones
    /// are left out.
    pub(crate) async fn archive_of(&self, ids: &[u64]) -> Result<Bytes> {
        let call = Call::post("/v1/archive").json(&serde_json::json!({ "ids": ids }));
        self.bytes(call.repeatable()).await
    }
}
