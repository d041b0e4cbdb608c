//! Reading blobs: in chunks, with read-ahead of one chunk, in constant memory.
//!
//! A place that holds fewer bytes than the requested range holds a damaged blob, because the catalog knows each
//! blob's length: no read ends early without an error. Nor does any read return more: a place that sends extra bytes
//! after the range would shift whatever the caller appends.
//!
//! A checked read fetches whole blocks from the place, whatever range is requested, and verifies each chunk on the
//! thread that read it, while it is in the processor's cache. A chunk that the kernel has in memory is read by the thread that sends it.

mod here;

use std::fs::File;
use std::future::ready;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use object_store::{GetOptions, GetResult, GetResultPayload, ObjectStore};
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use tokio::task::spawn_blocking;

pub use self::here::read_here;
use crate::cache::{Cache, Origin};
use crate::error::Source;
use crate::{BlobId, Blocks, Damage, Error, Place, Result};

/// The bytes of a range, in order, in chunks of at most 1 MiB. Ends after an error.
pub type ReadStream = BoxStream<'static, Result<Bytes>>;

/// The size of a chunk read from a file, in bytes.
const CHUNK: usize = 512 << 10;

/// Chunks read concurrently: the one being waited for, and the next.
const AHEAD: usize = 2;

type SourceStream = BoxStream<'static, std::result::Result<Bytes, Source>>;

impl Place {
    /// The bytes `range` of the blob `id`. Nothing is read before the stream is polled.
    ///
    /// # Errors
    /// [`Error::Damaged`] if the blob ends before the range does.
    pub fn read(&self, id: BlobId, range: Range<u64>) -> ReadStream {
        self.read_with(id, range, None, None)
    }

    /// The same, from blocks that are verified. `blocks` must cover the range.
    ///
    /// # Errors
    /// [`Error::Damaged`] also at the start of the first block that does not match.
    pub fn read_checked(&self, id: BlobId, range: Range<u64>, blocks: Blocks) -> ReadStream {
        self.read_with(id, range, Some(blocks), None)
    }

    /// The same, from the cache of the place as far as it has one ([`Place::with_cache`]). Whether the place has the bytes is not known
    /// then.
    ///
    /// # Errors
    /// Those of [`read_checked`](Self::read_checked). Of a blob that seems to be damaged nothing stays in the cache.
    pub fn read_cached(&self, id: BlobId, range: Range<u64>, blocks: Blocks) -> ReadStream {
        let Some(cache) = self.cache().cloned() else {
            return self.read_checked(id, range, blocks);
        };
        let chunks = self.read_with(id, range, Some(blocks), Some(cache.clone()));
        let forget = move |error: Error| {
            let cache = cache.clone();
            async move {
                if matches!(error, Error::Damaged { .. }) {
                    cache.forget(id).await;
                }
                Err(error)
            }
        };
        chunks.or_else(forget).boxed()
    }

    fn read_with(
        &self,
        id: BlobId,
        range: Range<u64>,
        blocks: Option<Blocks>,
        cache: Option<Cache>,
    ) -> ReadStream {
        let place = self.clone();
        let open = async move { place.open(id, range, blocks, cache).await };
        stream::once(open).try_flatten().boxed()
    }

    /// The bytes `range` of the blob `id` in one piece, held in memory.
    ///
    /// # Errors
    /// Same as [`read`](Self::read).
    pub async fn read_all(&self, id: BlobId, range: Range<u64>) -> Result<Bytes> {
        let mut chunks: Vec<Bytes> = self.read(id, range).try_collect().await?;
        match chunks.len() {
            0 | 1 => Ok(chunks.pop().unwrap_or_default()),
            _ => Ok(chunks.concat().into()),
        }
    }

    async fn open(
        &self,
        id: BlobId,
        range: Range<u64>,
        blocks: Option<Blocks>,
        cache: Option<Cache>,
    ) -> Result<ReadStream> {
        if range.is_empty() {
            self.check_reaches(id, range.end).await?;
            return Ok(stream::empty().boxed());
        }
        let whole = match &blocks {
            Some(blocks) => {
                let around = blocks.around(&range);
                around.ok_or_else(|| self.error(id, "checksums of blocks are missing"))?
            }
            None => range.clone(),
        };
        if let Some(chunk) = self.read_short(id, &whole, blocks.as_ref()).await {
            return Ok(cut(stream::once(ready(Ok(chunk))).boxed(), whole.start, range));
        }
        let got = match self.get(id, whole.clone(), cache).await {
            Ok(got) => got,
            Err(source) => return Err(self.explain(id, whole.end, source).await),
        };
        if got.meta.size < whole.end {
            return Err(self.short(id, whole.end, got.meta.size));
        }
        let chunks = self.until_end(id, whole.clone(), chunks(got, blocks));
        Ok(cut(chunks, whole.start, range))
    }

    async fn get(
        &self,
        id: BlobId,
        range: Range<u64>,
        cache: Option<Cache>,
    ) -> object_store::Result<GetResult> {
        let (store, path) = (self.store().clone(), self.path_of(id));
        match cache {
            Some(cache) => cache.get(Origin { store, path, id }, range).await,
            None => store.get_opts(&path, GetOptions::new().with_range(Some(range))).await,
        }
    }

    /// For a range that starts past the end, each store returns an error of its own.
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

    /// `chunks`, with an error if they end before `range` is complete or continue beyond it.
    fn until_end(&self, id: BlobId, range: Range<u64>, chunks: SourceStream) -> ReadStream {
        let state = (self.clone(), chunks, range.start);
        let checked = stream::try_unfold(state, move |(place, mut chunks, at)| async move {
            match chunks.next().await {
                Some(Ok(chunk)) => {
                    let at = at + chunk.len() as u64;
                    match at <= range.end {
                        true => Ok(Some((chunk, (place, chunks, at)))),
                        false => Err(place.error(id, "received more bytes than were requested")),
                    }
                }
                Some(Err(source)) => Err(place.fault(id, source)),
                None if at < range.end => Err(place.short(id, range.end, at)),
                None => Ok(None),
            }
        });
        checked.boxed()
    }

    /// The error for a stream of chunks that failed.
    fn fault(&self, id: BlobId, source: Source) -> Error {
        match source.downcast::<Damage>() {
            Ok(damage) => self.damaged(id, *damage),
            Err(source) => self.error(id, source),
        }
    }

    fn short(&self, id: BlobId, expected: u64, actual: u64) -> Error {
        self.damaged(id, Damage::Short { expected, actual })
    }
}

fn chunks(got: GetResult, blocks: Option<Blocks>) -> SourceStream {
    match (got.payload, blocks) {
        (GetResultPayload::File(file, _), blocks) => file_chunks(file, got.range, blocks),
        (GetResultPayload::Stream(runs), None) => pieces(runs.err_into().boxed(), CHUNK),
        (GetResultPayload::Stream(runs), Some(blocks)) => {
            let runs = pieces(runs.err_into().boxed(), blocks.chunk(CHUNK));
            in_blocks(runs, got.range, blocks)
        }
    }
}

fn file_chunks(file: File, range: Range<u64>, blocks: Option<Blocks>) -> SourceStream {
    let chunk = blocks.as_ref().map_or(CHUNK, |blocks| blocks.chunk(CHUNK));
    let file = Arc::new(file);
    let starts = range.clone().step_by(chunk);
    let reads = stream::iter(starts).map(move |start| {
        let (file, len) = (file.clone(), (range.end - start).min(chunk as u64) as usize);
        let (blocks, is_cached) = (blocks.clone(), is_cached(&file, start, len));
        let read = move || {
            let bytes = read_at(&file, start, len)?;
            blocks.map_or(Ok(()), |blocks| checked(&blocks, start, &bytes, len))?;
            Ok::<_, Source>(bytes)
        };
        async move {
            match is_cached {
                // The thread that sends it has it in its processor's cache then.
                true => read(),
                false => spawn_blocking(read).await?,
            }
        }
    });
    // Reads start when they are pulled into the buffer, so one is always ahead.
    reads.buffered(AHEAD).boxed()
}

/// Whether the kernel seems to have a range in memory, so that reading it does not wait: its first and its last byte.
#[cfg(target_os = "linux")]
fn is_cached(file: &File, start: u64, len: usize) -> bool {
    use rustix::io::{ReadWriteFlags, preadv2};
    let has = |at| {
        let mut byte = [0];
        let here = &mut [io::IoSliceMut::new(&mut byte)];
        preadv2(file, here, at, ReadWriteFlags::NOWAIT) == Ok(1)
    };
    len > 0 && has(start) && has(start + len as u64 - 1)
}

/// Other systems cannot tell.
#[cfg(not(target_os = "linux"))]
fn is_cached(_: &File, _: u64, _: usize) -> bool {
    false
}

/// Verifies `bytes`, which start at `start` and should be `len` long, against the checksums.
fn checked(
    blocks: &Blocks,
    start: u64,
    bytes: &[u8],
    len: usize,
) -> std::result::Result<(), Damage> {
    if bytes.len() < len {
        let (expected, actual) = (start + len as u64, start + bytes.len() as u64);
        return Err(Damage::Short { expected, actual });
    }
    blocks.check(start, bytes)
}

/// The bytes of a range with block boundaries at both ends, in chunks with the same property, each of them verified.
fn in_blocks(pieces: SourceStream, range: Range<u64>, blocks: Blocks) -> SourceStream {
    let state = (pieces, BytesMut::new(), range.start);
    let checked = stream::try_unfold(state, move |(mut pieces, mut gathered, at)| {
        let (blocks, left) = (blocks.clone(), range.end - at);
        let wanted = left.min(blocks.chunk(CHUNK) as u64) as usize;
        async move {
            while gathered.len() < wanted {
                match pieces.try_next().await? {
                    Some(piece) => gathered.extend_from_slice(&piece),
                    None => break,
                }
            }
            // Missing or extra bytes are noticed by the caller, which counts them.
            let chunk = gathered.split_to(wanted.max(1).min(gathered.len())).freeze();
            if chunk.len() == wanted {
                blocks.check(at, &chunk)?;
            }
            let next = at + chunk.len() as u64;
            Ok::<_, Source>((!chunk.is_empty()).then_some((chunk, (pieces, gathered, next))))
        }
    });
    checked.boxed()
}

/// The part of the chunks, the first of which starts at `start`, that is within `range`.
fn cut(chunks: ReadStream, mut start: u64, range: Range<u64>) -> ReadStream {
    if start == range.start {
        // Only the last chunk has bytes after the range.
        let mut left = range.end - range.start;
        let take = move |mut chunk: Bytes| {
            chunk.truncate(usize::try_from(left).unwrap_or(usize::MAX));
            left -= chunk.len() as u64;
            chunk
        };
        return chunks.map_ok(take).boxed();
    }
    let within = move |chunk: Bytes| {
        let all = start..start + chunk.len() as u64;
        start = all.end;
        let part = range.start.clamp(all.start, all.end)..range.end.clamp(all.start, all.end);
        chunk.slice((part.start - all.start) as usize..(part.end - all.start) as usize)
    };
    chunks.map_ok(within).boxed()
}

/// The `len` bytes at `start`, or fewer at the end of the file.
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
    // The allocator may have reserved more than was requested.
    bytes.truncate(len);
    Ok(bytes.into())
}

/// The same bytes in runs of at most `most` bytes.
fn pieces(runs: SourceStream, most: usize) -> SourceStream {
    let split = move |mut run: Bytes| {
        std::iter::from_fn(move || (!run.is_empty()).then(|| run.split_to(run.len().min(most))))
    };
    runs.map_ok(move |run| stream::iter(split(run).map(Ok))).try_flatten().boxed()
}
