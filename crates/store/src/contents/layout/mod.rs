//! The layout of a content: its extents, and the location of their blobs.
//!
//! A blob is looked up when it is its turn to be read, some at a time: a content may have very many, and a range costs
//! the same whatever their number.
//!
//! If a copy fails, reading continues with the next one, at the same byte: all copies of a blob are
//! the same bytes.

mod extent_cache;
mod holes;
mod local;
mod reachable;
mod source;
mod stream;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use cenote_blob::{Hasher, Hashing, Sha256State};
use futures_util::StreamExt;

pub(crate) use self::extent_cache::ExtentCache;
pub use self::local::{LocalBytes, LocalPiece};
use self::reachable::{Finder, ReachableBlob};
pub(crate) use self::source::is_loss;
pub use self::stream::ContentStream;
use self::stream::{BlobRun, all, steps};
use crate::catalog::{BlobRecord, View};
use crate::contents::patches::extents;
use crate::contents::patches::runs::{Part, PartKind};
use crate::contents::sweep::Pin;
use crate::model::{ContentHead, Digests, Extent, Piece, PlaceId};
use crate::{BlobId, Error, ErrorKind, Result, Store};

/// A content that can be read.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    extents: Arc<Vec<Extent>>,
    size: u64,
    finder: Finder,
}

impl Store {
    /// The layout of a content that was found in a view; none, if it was swept since. It is not swept while the layout, or a
    /// stream of its bytes, exists.
    pub(crate) fn lay_out(&self, view: &View, head: &ContentHead) -> Result<Option<Layout>> {
        let Some(pin) = self.pin(view, head.id)? else { return Ok(None) };
        let extents = self.extents_of(view, head)?;
        let finder = Finder::new(self.clone(), vec![pin]);
        Ok(Some(Layout { extents, size: head.size, finder }))
    }

    /// All bytes of a blob, each block from any copy in which it is whole. Damage is not noted, so that repairing what cannot be
    /// repaired does not call for itself again.
    pub(crate) fn blob_bytes(&self, id: BlobId, record: &BlobRecord) -> ContentStream {
        let finder = Finder::new(self.clone(), Vec::new());
        let blob = finder.reached(&self.known(), id, record.clone());
        BlobRun::new(&blob, 0..record.size, finder).without_notes().stream()
    }

    /// The layout of extents that cover `0..size`, of contents that are pinned.
    pub(crate) fn lay_out_extents(
        &self,
        extents: Vec<Extent>,
        size: u64,
        pins: Vec<Arc<Pin>>,
    ) -> Layout {
        Layout { extents: Arc::new(extents), size, finder: Finder::new(self.clone(), pins) }
    }
}

impl Layout {
    pub(super) fn into_extents(self) -> Vec<Extent> {
        Arc::unwrap_or_clone(self.extents)
    }

    pub(super) fn extents(&self) -> &[Extent] {
        &self.extents
    }

    /// The extents, as merging sees them.
    pub(super) fn parts(&self) -> Result<Vec<Part>> {
        let mut parts = Vec::with_capacity(self.extents.len());
        for step in steps(vec![self.whole()]) {
            let blobs = self.finder.blobs_of(&self.extents[step.clone()])?;
            parts.extend(self.extents[step].iter().map(|extent| part(extent, &blobs)));
        }
        Ok(parts)
    }

    /// All extents.
    fn whole(&self) -> Range<usize> {
        0..self.extents.len()
    }

    /// The same, each blob that this place has read from there only.
    pub(crate) fn only_in(self, place: PlaceId) -> Self {
        Self { finder: self.finder.only_in(place), ..self }
    }

    /// Whether there are more zeros of holes than are hashed: no SHA-256 is computed of such a content.
    pub(crate) fn has_vast_holes(&self) -> bool {
        self.size > holes::MOST && holes::size(&self.extents) > holes::MOST
    }

    /// The same, whose digests and verification continue in turns with those of others.
    pub(crate) fn in_turns(self) -> Self {
        Self { finder: self.finder.in_turns(), ..self }
    }

    /// The digests that are recorded, for a content that is exactly one blob.
    pub(crate) fn recorded_digests(&self) -> Result<Option<Digests>> {
        let [Extent { start: 0, .. }] = &self.extents[..] else { return Ok(None) };
        let whole = |blob: &ReachableBlob| blob.record.size == self.size;
        let blob = self.finder.blobs_of(&self.extents)?.into_iter().find(whole);
        Ok(blob.map(|blob| blob.record.digests))
    }

    /// Verifies one copy of each blob against its SHA-256, and records damaged ones; what is read
    /// afterwards comes from a copy that was whole.
    pub(crate) async fn verify(&mut self) -> Result<()> {
        self.verify_runs(&[self.whole()]).await
    }

    /// The same for the blobs of runs of extents.
    pub(super) async fn verify_runs(&mut self, runs: &[Range<usize>]) -> Result<()> {
        let mut verified = HashSet::new();
        for step in steps(runs.to_vec()) {
            for blob in self.finder.blobs_of(&self.extents[step])? {
                if verified.insert(blob.id) {
                    self.finder.verify(&blob).await?;
                }
            }
        }
        Ok(())
    }

    /// The bytes of `range`.
    pub(crate) fn bytes(self, range: Range<u64>) -> ContentStream {
        let run = extents::within(&self.extents, &range);
        all(self.extents, vec![run], range, self.finder)
    }

    /// The bytes of runs of extents.
    pub(super) fn bytes_of(self, runs: &[Range<usize>]) -> ContentStream {
        all(self.extents, runs.to_vec(), 0..self.size, self.finder)
    }

    /// The digests of all bytes; the CRC-64/NVME alone, if more of them are zeros of holes than are hashed.
    pub(crate) async fn digests(self) -> Result<Digests> {
        self.digests_by(Hasher::default()).await
    }

    /// The same with a hasher of additional digests.
    pub(crate) async fn digests_by(self, hasher: Hasher) -> Result<Digests> {
        if self.has_vast_holes() {
            let mut digests = Digests::default();
            digests.crc64nvme = Some(holes::crc64nvme(self).await?);
            return Ok(digests);
        }
        let whole = 0..self.size;
        Ok(Digests::from(&self.hashed_by(whole, hasher, Hasher::update).await?.finish()))
    }

    async fn hashed(self, range: Range<u64>) -> Result<Hasher> {
        self.hashed_by(range, Hasher::default(), Hasher::update).await
    }

    /// The SHA-256 of all bytes, by a state that has had those before `start`.
    pub(super) async fn sha256_from(self, start: u64, state: Sha256State) -> Result<[u8; 32]> {
        let rest = start..self.size;
        let state = self.hashed_by(rest, state, Sha256State::update).await?;
        Ok(state.sha256())
    }

    async fn hashed_by<T: Send + 'static>(
        self,
        range: Range<u64>,
        state: T,
        take: fn(&mut T, &[u8]),
    ) -> Result<T> {
        let lost = |lost| Error::new(ErrorKind::Unavailable, format!("hashing ended: {lost}"));
        let (Range { start, end: size }, finder) = (range.clone(), self.finder.clone());
        let mut stream = self.bytes(range);
        let mut hashing = Hashing::new(state, take);
        let mut end = start;
        loop {
            let _turn = finder.turn().await;
            let Some(chunk) = stream.next().await else { break };
            let chunk = chunk?;
            end += chunk.len() as u64;
            hashing.update(vec![chunk]).await.map_err(lost)?;
        }
        if end != size {
            return Err(Error::damaged(format!("its extents give {end} bytes of {size}")));
        }
        hashing.finish().await.map_err(lost)
    }
}

/// An extent, as merging sees it.
fn part(extent: &Extent, blobs: &[ReachableBlob]) -> Part {
    let kind = match extent.piece {
        Piece::Inline(_) => PartKind::Inline,
        Piece::Blob(id) => match blobs.iter().find(|blob| blob.id == id) {
            Some(blob) if blob.record.size == extent.length => PartKind::Whole,
            _ => PartKind::Other,
        },
        Piece::Hole => PartKind::Other,
    };
    Part { length: extent.length, kind }
}
