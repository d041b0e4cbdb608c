//! Reading blobs: in chunks, with the next one read ahead, in constant memory.
//!
//! A place that holds fewer bytes than the range asks for holds a damaged blob,
//! because the catalog knows each blob's length: no read ends early without an
//! error. Nor does any read give more: a place that sends other bytes behind the range would shift
//! whatever the caller puts after it.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use object_store::{GetOptions, GetResult, GetResultPayload, ObjectStore};
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use tokio::task::spawn_blocking;

use crate::error::Source;
use crate::{BlobId, Damage, Error, Place, Result};

/// The bytes of a range, in order, in chunks of at most 1 MiB. After an error
/// there are no more.
pub type ReadStream = BoxStream<'static, Result<Bytes>>;

/// The bytes of a chunk read from a file.
const CHUNK: usize = 512 << 10;

/// Chunks read at a time: the one that is waited for, and the next.
const AHEAD: usize = 2;

type SourceStream = BoxStream<'static, std::result::Result<Bytes, Source>>;

impl Place {
    /// The bytes `range` of the blob `id`. Nothing is read before the stream is polled.
    ///
    /// # Errors
    /// [`Error::Damaged`] if the blob ends before the range does.
    pub fn read(&self, id: BlobId, range: Range<u64>) -> ReadStream {
        let place = self.clone();
        stream::once(async move { place.open(id, range).await }).try_flatten().boxed()
    }

    /// The bytes `range` of the blob `id` in one piece, held in memory.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn read_all(&self, id: BlobId, range: Range<u64>) -> Result<Bytes> {
        let mut chunks: Vec<Bytes> = self.read(id, range).try_collect().await?;
        match chunks.len() {
            0 | 1 => Ok(chunks.pop().unwrap_or_default()),
            _ => Ok(chunks.concat().into()),
        }
    }

    async fn open(&self, id: BlobId, range: Range<u64>) -> Result<ReadStream> {
        if range.is_empty() {
            self.check_reaches(id, range.end).await?;
            return Ok(stream::empty().boxed());
        }
        let options = GetOptions::new().with_range(Some(range.clone()));
        let got = match self.store().get_opts(&self.path_of(id), options).await {
            Ok(got) => got,
            Err(source) => return Err(self.explain(id, range.end, source).await),
        };
        if got.meta.size < range.end {
            return Err(self.short(id, range.end, got.meta.size));
        }
        Ok(self.until_end(id, range, chunks(got)))
    }

    /// A store refuses a range that starts past the end in its own words.
    async fn explain(&self, id: BlobId, end: u64, source: object_store::Error) -> Error {
        match self.error(id, source) {
            missing @ Error::NotFound { .. } => missing,
            error => self.check_reaches(id, end).await.err().unwrap_or(error),
        }
    }

    async fn check_reaches(&self, id: BlobId, end: u64) -> Result<()> {
        match self.size(id).await? {
            Some(size) if size >= end => Ok(()),
            Some(size) => Err(self.short(id, end, size)),
            None => Err(Error::NotFound { place: self.name().to_owned(), id }),
        }
    }

    /// `chunks`, with an error instead of an end before `range` is full, and instead of bytes behind it.
    fn until_end(&self, id: BlobId, range: Range<u64>, chunks: SourceStream) -> ReadStream {
        let state = (self.clone(), chunks, range.start);
        let checked = stream::try_unfold(state, move |(place, mut chunks, at)| async move {
            match chunks.next().await {
                Some(Ok(chunk)) => {
                    let at = at + chunk.len() as u64;
                    match at <= range.end {
                        true => Ok(Some((chunk, (place, chunks, at)))),
                        false => Err(place.error(id, "more bytes came than were asked for")),
                    }
                }
                Some(Err(source)) => Err(place.error(id, source)),
                None if at < range.end => Err(place.short(id, range.end, at)),
                None => Ok(None),
            }
        });
        checked.boxed()
    }

    fn short(&self, id: BlobId, expected: u64, actual: u64) -> Error {
        self.damaged(id, Damage::Short { expected, actual })
    }
}

fn chunks(got: GetResult) -> SourceStream {
    match got.payload {
        GetResultPayload::File(file, _) => file_chunks(file, got.range),
        GetResultPayload::Stream(runs) => runs
            .err_into::<Source>()
            .map_ok(|run| stream::iter(split(run).map(Ok)))
            .try_flatten()
            .boxed(),
    }
}

fn file_chunks(file: File, range: Range<u64>) -> SourceStream {
    let file = Arc::new(file);
    let starts = range.clone().step_by(CHUNK);
    let reads = stream::iter(starts).map(move |start| {
        let (file, len) = (file.clone(), (range.end - start).min(CHUNK as u64));
        spawn_blocking(move || read_at(&file, start, len as usize))
    });
    // Reads start when they are pulled into the buffer, so one is always ahead.
    let chunks = reads.buffered(AHEAD).map(|done| Ok(done??));
    chunks.boxed()
}

/// The `len` bytes at `start`, or fewer where the file ends.
fn read_at(file: &File, start: u64, len: usize) -> io::Result<Bytes> {
    let mut bytes = Vec::with_capacity(len);
    while bytes.len() < len {
        let at = start + bytes.len() as u64;
        match rustix::io::pread(file, spare_capacity(&mut bytes), at) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // The allocator may have given more room than was asked for.
    bytes.truncate(len);
    Ok(bytes.into())
}

fn split(mut run: Bytes) -> impl Iterator<Item = Bytes> {
    std::iter::from_fn(move || (!run.is_empty()).then(|| run.split_to(run.len().min(CHUNK))))
}
