//! Staged writing: a content that is written anywhere, truncated and read before it is published as one version of an object.

use std::io;
use std::ops::Range;

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::Stream;
use http::header::HeaderName;
use serde::{Deserialize, Serialize};

use super::patch::patching;
use crate::body;
use crate::call::{Call, Payload};
use crate::{Address, Client, Content, Patch, ReadOptions, Resource, Result, Sha256Digest};

/// The initial content of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StageFrom {
    /// The present content of the object; its bytes are shared, not copied.
    Object,
    /// No bytes.
    Nothing,
}

/// How to create a stage.
#[derive(Debug, Clone, Serialize)]
pub struct NewStage {
    /// The path, the id of an existing object, or a name in a collection.
    #[serde(flatten)]
    pub at: Address,
    /// Its initial content.
    pub from: StageFrom,
    /// The media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Mode bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// Only if the existing content has this tag, both now and when the stage is published. Without it, a stage that
    /// begins with the content of an object requires the tag that the object has now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_match: Option<String>,
    /// `*`: only if the path is free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_none_match: Option<String>,
}

/// A stage that was created.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Stage {
    /// Identifies it; keep it secret.
    pub id: String,
    /// Its size in bytes.
    #[serde(rename = "staged")]
    pub size: u64,
}

/// A stage that is changed, and by which attempt: the first one is 0.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    /// The id of the stage.
    pub id: &'a str,
    /// Whoever gives a change up without knowing whether it was made counts up, and sends it and all that follow with the next number: once the stage was
    /// changed by that, what was given up and arrives late is refused ([`Kind::Conflict`](crate::Kind::Conflict)).
    pub number: u64,
}

impl<'a> From<&'a str> for Attempt<'a> {
    fn from(id: &'a str) -> Self {
        Self { id, number: 0 }
    }
}

impl<'a> From<&'a String> for Attempt<'a> {
    fn from(id: &'a String) -> Self {
        id.as_str().into()
    }
}

const ATTEMPT: HeaderName = HeaderName::from_static("cenote-attempt");

impl Attempt<'_> {
    /// The call as one of this attempt.
    fn mark(self, call: Call) -> Result<Call> {
        match self.number {
            0 => Ok(call),
            number => call.header(ATTEMPT, &number.to_string()),
        }
    }
}

#[derive(Deserialize)]
struct Size {
    size: u64,
}

impl Client {
    /// Creates a stage.
    pub async fn begin_stage(&self, new: &NewStage) -> Result<Stage> {
        self.json(Call::post("/v1/uploads").json(new).repeatable()).await
    }

    /// Reads a stage, or a range of it.
    pub async fn read_stage(&self, id: &str, range: Option<Range<u64>>) -> Result<Content> {
        let (offset, length) = match range {
            Some(Range { start, end }) => (start, Some(end.saturating_sub(start))),
            None => (0, None),
        };
        let options = ReadOptions { offset, length, ..ReadOptions::default() };
        self.content(options.of(Call::get(&route(id)))?).await
    }

    /// Modifies a stage and returns its new size; the server verifies the bytes.
    pub async fn patch_stage(&self, stage: impl Into<Attempt<'_>>, patch: &Patch) -> Result<u64> {
        let stage = stage.into();
        let call = stage.mark(Call::patch(&route(stage.id)))?;
        let size: Size = self.json(patching(call, patch)?).await?;
        Ok(size.size)
    }

    /// Writes bytes of unknown length to a stage, starting at `offset`, and returns its new size.
    pub async fn write_stage<S>(
        &self,
        stage: impl Into<Attempt<'_>>,
        offset: u64,
        bytes: S,
    ) -> Result<u64>
    where
        S: Stream<Item = io::Result<Bytes>> + Send + 'static,
    {
        let stage = stage.into();
        let call = stage.mark(Call::patch(&route(stage.id)).query("offset", offset))?;
        let size: Size = self.json(call.body(Payload::Once(Some(body::stream(bytes))))).await?;
        Ok(size.size)
    }

    /// Writes bytes at several offsets of a stage in one request, and in one commit, and returns its new size. The offsets are in ascending order, and the bytes do
    /// not overlap.
    pub async fn write_stage_ranges(
        &self,
        stage: impl Into<Attempt<'_>>,
        ranges: &[(u64, Bytes)],
    ) -> Result<u64> {
        let (stage, joined) = (stage.into(), joined(ranges));
        let call = stage.mark(Call::patch(&route(stage.id)).query("ranges", joined.len()))?;
        let body = Payload::Bytes(indexed(&joined, ranges));
        let size: Size = self.json(call.body(body).repeatable()).await?;
        Ok(size.size)
    }

    /// Publishes a stage as one version of the object. With `force`, also if the object has changed since.
    ///
    /// # Errors
    /// [`Kind::Precondition`](crate::Kind::Precondition) if it has changed; the stage is then kept.
    pub async fn publish_stage(
        &self,
        stage: impl Into<Attempt<'_>>,
        digest: Option<Sha256Digest>,
        force: bool,
    ) -> Result<Resource> {
        let stage = stage.into();
        let how = serde_json::json!({ "sha256": digest.map(|digest| digest.to_string()), "force": force });
        let call = stage.mark(Call::post(&format!("/v1/uploads/{}/complete", stage.id)))?;
        self.json(call.json(&how)).await
    }
}

/// The offset and length of each range; neighbours are one, since their bytes follow each other.
fn joined(ranges: &[(u64, Bytes)]) -> Vec<(u64, u64)> {
    let mut joined: Vec<(u64, u64)> = Vec::with_capacity(ranges.len());
    for (offset, bytes) in ranges {
        match joined.last_mut().filter(|(start, length)| start + length == *offset) {
            Some((_, length)) => *length += bytes.len() as u64,
            None => joined.push((*offset, bytes.len() as u64)),
        }
    }
    joined
}

/// A body of ranges: the offset and length of each, and then their bytes.
fn indexed(index: &[(u64, u64)], ranges: &[(u64, Bytes)]) -> Bytes {
    let length: usize = ranges.iter().map(|(_, bytes)| bytes.len()).sum();
    let mut body = BytesMut::with_capacity(16 * index.len() + length);
    for (offset, length) in index {
        body.put_u64(*offset);
        body.put_u64(*length);
    }
    ranges.iter().for_each(|(_, bytes)| body.put(&bytes[..]));
    body.freeze()
}

fn route(id: &str) -> String {
    format!("/v1/uploads/{id}/content")
}
