//! Contents in memory: reading ranges and writing whole ones.

use bytes::{Bytes, BytesMut};
use cenote_client::{Client, Content, Error, Kind, Patch, PutOptions, ReadOptions};
use futures_util::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use super::address::checked;
use super::answer::Answer;
use super::connection::Connection;
use super::error::Failure;
use super::pending::Pending;

/// The number of ranges read concurrently.
const AT_ONCE: usize = 16;

/// A path, and a range of bytes.
type Range = (String, u64, Option<u64>);

#[pymethods]
impl Connection {
    /// Reads a range of an object: from `start` up to, and without, `stop`.
    #[pyo3(signature = (path, start=0, stop=None, if_match=None, version=None))]
    fn read(
        &self,
        path: String,
        start: u64,
        stop: Option<u64>,
        if_match: Option<String>,
        version: Option<u64>,
    ) -> Result<Pending, Failure> {
        let (client, path) = (self.client()?, checked(path)?);
        Ok(Pending::new(async move {
            let options = options((start, stop), if_match, version);
            read(&client, &path, &options).await.map(Answer::Bytes)
        }))
    }

    /// Reads several ranges concurrently; each has its own outcome.
    fn read_many(&self, ranges: Vec<Range>) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move {
            let each = |(path, start, stop): Range| {
                let client = client.clone();
                async move { read(&client, &checked(path)?, &options((start, stop), None, None)).await }
            };
            let answers = stream::iter(ranges).map(each).buffered(AT_ONCE).map(|result| {
                result.map_or_else(|error| Answer::Failure(error.into()), Answer::Bytes)
            });
            Ok::<_, Failure>(Answer::List(answers.collect().await))
        }))
    }

    #[pyo3(signature = (path, bytes, options))]
    fn write(
        &self,
        path: String,
        bytes: PyBackedBytes,
        options: Putting,
    ) -> Result<Pending, Failure> {
        let (client, path) = (self.client()?, checked(path)?);
        let options = options.options()?;
        Ok(Pending::new(async move {
            let put = client.put_bytes(path.as_str(), Bytes::from_owner(bytes), &options).await;
            put.map(|resource| Answer::of(&resource))
        }))
    }

    /// Appends to an object, while its content has the tag `if_match` if one is given.
    #[pyo3(signature = (path, bytes, if_match=None))]
    fn append(
        &self,
        path: String,
        bytes: PyBackedBytes,
        if_match: Option<String>,
    ) -> Result<Pending, Failure> {
        let (client, path) = (self.client()?, checked(path)?);
        Ok(Pending::new(async move {
            let patch = Patch::Append(Bytes::from_owner(bytes));
            let patched = client.patch(path.as_str(), &patch, if_match.as_deref()).await;
            patched.map(|resource| Answer::of(&resource))
        }))
    }
}

/// The options of a put, as a dictionary.
#[derive(Debug, Default, FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct Putting {
    if_match: Option<String>,
    create_only: bool,
    media_type: Option<String>,
    parents: bool,
    mode: Option<u32>,
    mtime: Option<String>,
    place: Option<String>,
}

impl Putting {
    pub(super) fn options(self) -> Result<PutOptions, Error> {
        let Self { if_match, create_only, media_type, parents, mode, mtime, place } = self;
        let mtime = mtime.map(|time| timestamp(&time)).transpose()?;
        Ok(PutOptions { if_match, create_only, media_type, parents, mode, mtime, place })
    }
}

/// A time in RFC 3339.
pub(super) fn timestamp(text: &str) -> Result<Timestamp, Error> {
    text.parse()
        .map_err(|error| Error::new(Kind::Invalid, format!("not a time: {text:.64}: {error}")))
}

pub(super) fn options(
    (start, stop): (u64, Option<u64>),
    if_match: Option<String>,
    version: Option<u64>,
) -> ReadOptions {
    let length = stop.map(|stop| stop.saturating_sub(start));
    ReadOptions { offset: start, length, if_match, version }
}

/// The bytes of a range. One that is empty, or begins at or after the end, has none.
async fn read(client: &Client, path: &str, options: &ReadOptions) -> Result<Bytes, Error> {
    if options.length == Some(0) {
        return client.stat(&path.into()).await.map(|_| Bytes::new());
    }
    match client.read(path, options).await {
        Err(error) if error.kind() == Kind::Range => Ok(Bytes::new()),
        content => collect(content?, path).await,
    }
}

/// All bytes of a content.
pub(super) async fn collect(content: Content, name: &str) -> Result<Bytes, Error> {
    let length = content.length();
    let mut chunks = content.into_stream();
    // A content in one piece is not copied.
    let first = chunks.try_next().await?.unwrap_or_default();
    if length == Some(first.len() as u64) {
        return Ok(first);
    }
    let mut bytes = BytesMut::with_capacity(length.unwrap_or(0).min(1 << 30) as usize);
    bytes.extend_from_slice(&first);
    while let Some(chunk) = chunks.try_next().await? {
        bytes.extend_from_slice(&chunk);
    }
    match length {
        Some(length) if length != bytes.len() as u64 => Err(Error::new(
            Kind::Unreachable,
            format!("the connection was lost while reading {name}"),
        )),
        _ => Ok(bytes.freeze()),
    }
}
