//! A cache of a remote place: pieces of blobs that were read, in files on this machine.
//!
//! Blobs never change, so what is in the cache is right for as long as the blob exists; whether it exists and who may read it is decided
//! elsewhere. A read takes pieces from files up to the first that is not there; from there on it is one request to the place, whose whole
//! pieces are kept as they pass. Neither waits for the files more than it has to ([`ahead`]).
//!
//! Invariant: a read gets the bytes of the place, or an error, whatever is in the files.

mod ahead;
mod files;

use std::ops::Range;
use std::path::Path as FilePath;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    GetOptions, GetResult, GetResultPayload, ObjectMeta, ObjectStore, Result as StoreResult,
};
use tokio::task::spawn_blocking;

use self::ahead::{Ahead, Behind};
use self::files::{Files, Found, PIECE, Piece};
use crate::BlobId;

/// The cache of a place. Clones are the same one.
#[derive(Debug, Clone)]
pub(crate) struct Cache(Arc<Files>);

/// Where a blob comes from.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) path: Path,
    pub(crate) id: BlobId,
}

/// A read in progress.
struct Reading {
    cache: Cache,
    origin: Origin,
    /// The length of the blob.
    size: u64,
    /// What is still to be given.
    range: Range<u64>,
    /// The piece at the beginning of that, if it was read already.
    next: Option<Bytes>,
    ahead: Ahead,
    behind: Behind,
    /// What comes from the place.
    filling: Option<Filling>,
}

/// Bytes that come from the place, from the beginning of a piece on.
struct Filling {
    runs: BoxStream<'static, StoreResult<Bytes>>,
    /// What has come of the piece that begins at `start`.
    gathered: BytesMut,
    start: u64,
}

impl Cache {
    /// With files below `dir`, of at most `most` bytes together. Blocks.
    pub(crate) fn open(dir: &FilePath, most: u64) -> std::io::Result<Self> {
        Ok(Self(Arc::new(Files::open(dir, most)?)))
    }

    /// Answers as the place does for this range.
    pub(crate) async fn get(&self, origin: Origin, range: Range<u64>) -> StoreResult<GetResult> {
        let pieces = range.start / PIECE..range.end.div_ceil(PIECE);
        let mut ahead = Ahead::of(self.clone(), origin.id, pieces);
        let (meta, next, filling) = match ahead.next().await {
            Some(Found { bytes, size }) => (origin.meta(size), Some(bytes), None),
            None => {
                let got = origin.get(&range, u64::MAX).await?;
                (got.meta.clone(), None, Some(Filling::of(got)))
            }
        };
        let (size, range) = (meta.size, range.start..range.end.min(meta.size));
        let (cache, behind) = (self.clone(), Behind::default());
        let reading = Reading { cache, origin, size, range, next, ahead, behind, filling };
        Ok(reading.answer(meta))
    }

    /// Drops what is there of a blob.
    pub(crate) async fn forget(&self, id: BlobId) {
        let files = self.0.clone();
        let _ = spawn_blocking(move || files.forget(id)).await;
    }
}

impl Origin {
    /// What is known of a blob of which a piece is in the cache.
    fn meta(&self, size: u64) -> ObjectMeta {
        ObjectMeta {
            location: self.path.clone(),
            last_modified: Default::default(),
            size,
            e_tag: None,
            version: None,
        }
    }

    /// The whole pieces around a range, as far as the blob reaches.
    async fn get(&self, range: &Range<u64>, size: u64) -> StoreResult<GetResult> {
        let start = range.start - range.start % PIECE;
        let end = range.end.div_ceil(PIECE).saturating_mul(PIECE).min(size);
        let options = GetOptions::new().with_range(Some(start..end));
        self.store.get_opts(&self.path, options).await
    }
}

impl Reading {
    fn answer(self, meta: ObjectMeta) -> GetResult {
        let range = self.range.clone();
        let runs = stream::try_unfold(self, Self::step).boxed();
        GetResult {
            payload: GetResultPayload::Stream(runs),
            meta,
            range,
            attributes: Default::default(),
            extensions: Default::default(),
        }
    }

    async fn step(mut self) -> StoreResult<Option<(Bytes, Self)>> {
        while !self.range.is_empty() {
            let Some(filling) = &mut self.filling else {
                match self.cached().await {
                    Some(bytes) => return Ok(Some((bytes, self))),
                    None => {
                        let got = self.origin.get(&self.range, self.size).await?;
                        self.filling = Some(Filling::of(got));
                        continue;
                    }
                }
            };
            let at = filling.start + filling.gathered.len() as u64;
            // Missing bytes are noticed by the caller, which counts them.
            let Some(run) = filling.runs.try_next().await? else { return Ok(None) };
            filling.gathered.extend_from_slice(&run);
            self.keep_whole().await;
            let given = self.cut(at, &run);
            if !given.is_empty() {
                return Ok(Some((given, self)));
            }
        }
        self.behind.end().await;
        Ok(None)
    }

    /// The next bytes, if they are in a file.
    async fn cached(&mut self) -> Option<Bytes> {
        let number = self.range.start / PIECE;
        let bytes = match self.next.take() {
            Some(bytes) => bytes,
            None => self.ahead.next().await?.bytes,
        };
        let given = self.cut(number * PIECE, &bytes);
        (!given.is_empty()).then_some(given)
    }

    /// The part of a run which begins at `at` that is to be given next.
    fn cut(&mut self, at: u64, run: &Bytes) -> Bytes {
        let end = at + run.len() as u64;
        let part = self.range.start.clamp(at, end)..self.range.end.clamp(at, end);
        self.range.start = part.end.max(self.range.start);
        run.slice((part.start - at) as usize..(part.end - at) as usize)
    }

    /// Keeps the pieces that have come.
    async fn keep_whole(&mut self) {
        let Some(filling) = &mut self.filling else { return };
        let (size, id) = (self.size, self.origin.id);
        let mut whole = Vec::new();
        while let Some(bytes) = filling.take_whole(size) {
            let number = (filling.start - 1) / PIECE;
            whole.push((Piece { id, number }, Found { bytes, size }));
        }
        for (piece, found) in whole {
            self.behind.write(&self.cache, piece, found).await;
        }
    }
}

impl Filling {
    fn of(got: GetResult) -> Self {
        let start = got.range.start;
        Self { runs: got.into_stream(), gathered: BytesMut::new(), start }
    }

    /// The piece at the front, once it is whole.
    fn take_whole(&mut self, size: u64) -> Option<Bytes> {
        let length = PIECE.min(size.saturating_sub(self.start)) as usize;
        if length == 0 || self.gathered.len() < length {
            return None;
        }
        self.start += length as u64;
        Some(self.gathered.split_to(length).freeze())
    }
}
