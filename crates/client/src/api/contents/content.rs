//! The bytes of objects, streamed.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt, TryStreamExt};
use http::HeaderMap;
use http::header::{
    CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderName, IF_MATCH, IF_NONE_MATCH, RANGE,
};
use http_body_util::BodyDataStream;
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::body::{self, Body};
use crate::call::{Call, Payload, bytes_of, put_to};
use crate::digest::Sha256Digest;
use crate::{Address, At, Client, Error, Kind, Resource, Result};

/// The header that each content of a store has.
const KIND: HeaderName = HeaderName::from_static("cenote-kind");
const REPR_DIGEST: HeaderName = HeaderName::from_static("repr-digest");

/// From this length on a range is read over a connection of its own.
const LARGE: u64 = 1 << 20;

/// How to read a content.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The first byte.
    pub offset: u64,
    /// Maximum number of bytes.
    pub length: Option<u64>,
    /// Only if the content still has this tag.
    pub if_match: Option<String>,
    /// A kept version instead of the current content.
    pub version: Option<u64>,
}

impl ReadOptions {
    /// The call that reads this range.
    pub(in crate::api) fn of(&self, call: Call) -> Result<Call> {
        let is_large = self.length.is_some_and(|length| length >= LARGE);
        match self.range() {
            Some(range) => call.large(is_large).header(RANGE, &range),
            None => Ok(call),
        }
    }

    fn range(&self) -> Option<String> {
        match (self.offset, self.length) {
            (0, None) => None,
            (offset, None) => Some(format!("bytes={offset}-")),
            (offset, Some(length)) => {
                Some(format!("bytes={offset}-{}", offset.saturating_add(length).saturating_sub(1)))
            }
        }
    }
}

/// How to put a content.
#[derive(Debug, Clone, Default)]
pub struct PutOptions {
    /// Only if the existing content has this tag.
    pub if_match: Option<String>,
    /// Only if the path is free.
    pub create_only: bool,
    /// The media type.
    pub media_type: Option<String>,
    /// Create missing parent collections.
    pub parents: bool,
    /// Mode bits.
    pub mode: Option<u32>,
    /// The modification time.
    pub mtime: Option<Timestamp>,
    /// The place or group that stores the bytes, instead of the default one.
    pub place: Option<String>,
}

/// A content being read.
#[derive(Debug)]
pub struct Content {
    headers: HeaderMap,
    body: Body,
}

impl Content {
    fn text(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The tag of the whole content.
    pub fn etag(&self) -> Option<&str> {
        self.text(ETAG)
    }

    /// The media type, if known.
    pub fn media_type(&self) -> Option<&str> {
        self.text(CONTENT_TYPE)
    }

    /// The number of bytes that follow.
    pub fn length(&self) -> Option<u64> {
        self.text(CONTENT_LENGTH)?.parse().ok()
    }

    /// Appends the bytes that arrive next to `room`, within its capacity, which must not be used up. Returns their number, which is 0 at the end.
    ///
    /// A large range is received into that memory, without being copied here.
    pub async fn fill(&mut self, room: &mut BytesMut) -> Result<usize> {
        Ok(self.body.fill(room).await?)
    }

    /// The bytes, as they arrive.
    pub fn into_stream(self) -> impl Stream<Item = Result<Bytes>> + Send + Unpin {
        BodyDataStream::new(self.body).map(|chunk| chunk.map_err(Error::from))
    }
}

impl Client {
    /// Reads an object, or a range of it.
    pub async fn read(&self, at: impl Into<At>, options: &ReadOptions) -> Result<Content> {
        let call = Call::get(&bytes_of(&at.into())).query_opt("version", options.version);
        let mut call = options.of(call)?;
        if let Some(etag) = &options.if_match {
            call = call.header(IF_MATCH, etag)?;
        }
        let content = self.content(call).await?;
        match content.headers.contains_key(KIND) {
            true => Ok(content),
            false => Err(Error::protocol("it is no content of a store")),
        }
    }

    /// The content that a call returns.
    pub(in crate::api) async fn content(&self, call: Call) -> Result<Content> {
        let (head, body) = self.send(call).await?.into_parts();
        Ok(Content { headers: head.headers, body })
    }

    /// Puts bytes of unknown length, such as standard input. An id refers to an existing object.
    ///
    /// # Errors
    /// [`Kind::Mismatch`](crate::Kind::Mismatch) if the store received bytes that differ from those sent: the digest
    /// is not known before the last of them.
    pub async fn put_stream<S>(
        &self,
        at: impl Into<Address>,
        bytes: S,
        options: &PutOptions,
    ) -> Result<Resource>
    where
        S: Stream<Item = std::io::Result<Bytes>> + Send + 'static,
    {
        let hasher = Arc::new(Mutex::new(Sha256::new()));
        let watching = Arc::clone(&hasher);
        let bytes = bytes.inspect_ok(move |chunk| {
            watching.lock().unwrap_or_else(PoisonError::into_inner).update(chunk);
        });
        let payload = Payload::Once(Some(body::stream(bytes)));
        let resource = self.put(at, payload, None, options).await?;
        let hasher = hasher.lock().unwrap_or_else(PoisonError::into_inner).clone();
        compare(&resource, Sha256Digest::from_hasher(hasher))?;
        Ok(resource)
    }

    /// Puts bytes in memory; the server verifies them. An id refers to an existing object.
    pub async fn put_bytes(
        &self,
        at: impl Into<Address>,
        bytes: Bytes,
        options: &PutOptions,
    ) -> Result<Resource> {
        let digest = Sha256Digest::of(&bytes);
        self.put(at, Payload::Bytes(bytes), Some(digest), options).await
    }

    pub(crate) async fn put(
        &self,
        at: impl Into<Address>,
        payload: Payload,
        digest: Option<Sha256Digest>,
        options: &PutOptions,
    ) -> Result<Resource> {
        let mut call = put_to(&at.into()).body(payload);
        if options.parents {
            call = call.query("parents", true);
        }
        call = call.query_opt("mode", options.mode).query_opt("mtime", options.mtime);
        call = call.query_opt("place", options.place.as_ref());
        if let Some(media_type) = &options.media_type {
            call = call.header(CONTENT_TYPE, media_type)?;
        }
        if let Some(digest) = digest {
            call = call.header(REPR_DIGEST, &digest.header())?;
        }
        self.json(conditional(call, options)?).await
    }
}

/// The stored bytes have to match those that were sent.
pub(crate) fn compare(resource: &Resource, digest: Sha256Digest) -> Result<()> {
    match &resource.sha256 {
        Some(kept) if !digest.is(kept) => {
            let message =
                format!("the store has different bytes than were sent: {}", resource.path);
            Err(Error::new(Kind::Mismatch, message).with_hint("put it again"))
        }
        _ => Ok(()),
    }
}

/// A put is only retried if a repetition cannot fail because the first attempt succeeded.
fn conditional(call: Call, options: &PutOptions) -> Result<Call> {
    match (&options.if_match, options.create_only) {
        (Some(etag), _) => call.header(IF_MATCH, etag),
        (None, true) => call.header(IF_NONE_MATCH, "*"),
        (None, false) => Ok(call.repeatable()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_written_inclusive() {
        let range =
            |offset, length| ReadOptions { offset, length, ..ReadOptions::default() }.range();
        assert_eq!(range(0, None), None);
        assert_eq!(range(5, None).as_deref(), Some("bytes=5-"));
        assert_eq!(range(5, Some(10)).as_deref(), Some("bytes=5-14"));
        assert_eq!(
            range(u64::MAX, Some(2)).as_deref(),
            Some(&*format!("bytes={0}-{1}", u64::MAX, u64::MAX - 1))
        );
    }
}
