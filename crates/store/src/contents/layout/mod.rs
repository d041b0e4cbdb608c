//! A content laid out: its extents, and what each blob of it can be read from.
//!
//! A read goes on with the next copy where one fails, at the byte where it failed: all copies of a blob are
//! the same bytes.

mod source;
mod stream;

use std::collections::HashSet;
use std::ops::Range;

use cenote_blob::{Error as BlobError, Hasher, ReadStream, Sha256State};
use futures_util::StreamExt;

pub(crate) use self::source::is_loss;
pub use self::stream::ContentStream;
use self::stream::all;
use super::damage::Damage;
use crate::catalog::{BlobRecord, Reads, keys};
use crate::contents::runs::{Part, PartKind};
use crate::contents::{blob_ids, extents, resolve};
use crate::model::{ContentHead, Digests, Extent, Piece, PlaceId};
use crate::places::{Known, Source};
use crate::{BlobId, Error, ErrorKind, Result, Store};

/// A content that can be read.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    extents: Vec<Extent>,
    size: u64,
    blobs: Vec<Held>,
    damage: Damage,
}

/// A blob, and the copies of it that can be reached.
#[derive(Debug, Clone)]
struct Held {
    id: BlobId,
    record: BlobRecord,
    sources: Vec<Source>,
}

impl Store {
    /// The layout of a content.
    pub(crate) fn lay_out(&self, reads: &impl Reads, head: &ContentHead) -> Result<Layout> {
        self.lay_out_extents(reads, resolve(reads, head)?, head.size)
    }

    /// The layout of extents that cover `0..size`.
    pub(crate) fn lay_out_extents(
        &self,
        reads: &impl Reads,
        extents: Vec<Extent>,
        size: u64,
    ) -> Result<Layout> {
        let known = self.known();
        let mut blobs: Vec<Held> = Vec::new();
        for id in blob_ids(&extents) {
            if blobs.iter().all(|held| held.id != id) {
                blobs.push(self.held(reads, &known, id)?);
            }
        }
        Ok(Layout { extents, size, blobs, damage: self.inner.damage.clone() })
    }

    fn held(&self, reads: &impl Reads, known: &Known, id: BlobId) -> Result<Held> {
        let record = reads
            .get::<BlobRecord>(&keys::blob(id))?
            .ok_or_else(|| Error::damaged(format!("blob {id} has no record")))?;
        let sources = record.copies.iter().filter_map(|copy| self.source(known, copy)).collect();
        Ok(Held { id, record, sources })
    }
}

impl Layout {
    pub(super) fn into_extents(self) -> Vec<Extent> {
        self.extents
    }

    /// The extents, as merging sees them.
    pub(super) fn parts(&self) -> Vec<Part> {
        let part = |extent: &Extent| Part { length: extent.length, kind: self.kind(extent) };
        self.extents.iter().map(part).collect()
    }

    fn kind(&self, extent: &Extent) -> PartKind {
        let size = |blob| self.blobs.iter().find(|held| held.id == blob).map(|h| h.record.size);
        match extent.piece {
            Piece::Inline(_) => PartKind::Inline,
            Piece::Blob(blob) if size(blob) == Some(extent.length) => PartKind::Whole,
            Piece::Blob(_) | Piece::Hole => PartKind::Other,
        }
    }

    /// The same, each blob that this place has read from there only.
    pub(crate) fn only_in(mut self, place: PlaceId) -> Self {
        let there = |held: &&mut Held| held.record.copy_in(place).is_some();
        for held in self.blobs.iter_mut().filter(there) {
            held.sources.retain(|source| source.place() == place);
        }
        self
    }

    /// The digests that are recorded, for a content that is exactly one blob.
    pub(crate) fn recorded_digests(&self) -> Option<&Digests> {
        match (&self.extents[..], &self.blobs[..]) {
            ([Extent { start: 0, .. }], [held]) if held.record.size == self.size => {
                Some(&held.record.digests)
            }
            _ => None,
        }
    }

    /// Reads one copy of each blob against its SHA-256, and notes those that are damaged; what is read
    /// afterwards comes from a copy that was whole.
    pub(crate) async fn verify(&mut self) -> Result<()> {
        for held in &mut self.blobs {
            held.verify(&self.damage).await?;
        }
        Ok(())
    }

    /// The same for the blobs of runs of extents.
    pub(super) async fn verify_runs(&mut self, runs: &[Range<usize>]) -> Result<()> {
        let ids = runs.iter().flat_map(|run| blob_ids(&self.extents[run.clone()]));
        let wanted: HashSet<BlobId> = ids.collect();
        for held in self.blobs.iter_mut().filter(|held| wanted.contains(&held.id)) {
            held.verify(&self.damage).await?;
        }
        Ok(())
    }

    /// The bytes of `range`.
    pub(crate) fn bytes(self, range: Range<u64>) -> ContentStream {
        let Self { extents, blobs, damage, .. } = self;
        all(extents::cut(extents, &range), blobs, damage)
    }

    /// The bytes of runs of extents.
    pub(super) fn bytes_of(self, runs: &[Range<usize>]) -> ContentStream {
        let Self { extents, blobs, damage, .. } = self;
        let chosen = runs.iter().flat_map(|run| extents[run.clone()].to_vec());
        all(chosen.collect(), blobs, damage)
    }

    /// The digests of all bytes.
    pub(crate) async fn digests(self) -> Result<Digests> {
        let mut hasher = Hasher::default();
        self.each_from(0, |bytes| hasher.update(bytes)).await?;
        Ok(Digests::from(&hasher.finish()))
    }

    /// The SHA-256 of all bytes, by a state that has had those before `start`.
    pub(super) async fn sha256_from(self, start: u64, mut state: Sha256State) -> Result<[u8; 32]> {
        self.each_from(start, |bytes| state.update(bytes)).await?;
        Ok(state.sha256())
    }

    async fn each_from(self, start: u64, mut take: impl FnMut(&[u8])) -> Result<()> {
        let size = self.size;
        let mut stream = self.bytes(start..size);
        while let Some(chunk) = stream.next().await {
            take(&chunk?);
        }
        Ok(())
    }
}

impl Held {
    async fn verify(&mut self, damage: &Damage) -> Result<()> {
        let Some(sha256) = self.record.digests.sha256 else { return Ok(()) };
        let mut fault = None;
        while let Some(source) = self.sources.first() {
            let Err(error) = drain(source.read_verified(self.id, self.record.size, sha256)).await
            else {
                return Ok(());
            };
            source.blame(self.id, &error, damage);
            fault = fault.or(Some(error.into()));
            self.sources.remove(0);
        }
        Err(fault.unwrap_or_else(|| self.nowhere()))
    }

    /// The error for a blob of which no copy can be reached.
    fn nowhere(&self) -> Error {
        let message = format!("no place that can be reached has blob {}", self.id);
        match self.record.copies.is_empty() {
            true => Error::damaged(message),
            false => Error::new(ErrorKind::Unavailable, message)
                .with_hint("look at the places with `cenote place ls`"),
        }
    }
}

async fn drain(mut chunks: ReadStream) -> Result<(), BlobError> {
    while let Some(chunk) = chunks.next().await {
        chunk?;
    }
    Ok(())
}
