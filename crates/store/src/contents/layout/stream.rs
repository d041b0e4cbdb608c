//! The bytes of extents, one after the other.
//!
//! Invariant: no byte of a blob is returned before its block was verified, if the checksums of its blocks
//! are known. Copies that are corrupt in different blocks provide all bytes together.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use cenote_blob::{Blocks, Damage, Error as BlobError, ReadStream};
use futures_util::stream::{self, BoxStream, StreamExt};

use super::reachable::{Finder, ReachableBlob};
use crate::contents::patches::extents::clip;
use crate::model::{Extent, Piece, PlaceId};
use crate::places::Source;
use crate::{Error, Result};

/// Bytes of a content, in order.
pub type ContentStream = BoxStream<'static, Result<Bytes>>;

/// The blobs of so many extents are looked up at once.
const STEP: usize = 32;

/// A place returns at most this many bytes at once, or one block: after a damaged one, others may be intact.
const AT_ONCE: u64 = 1 << 20;

/// The bytes of runs of extents, as far as they are within `range`.
pub(super) fn all(
    extents: Arc<Vec<Extent>>,
    runs: Vec<Range<usize>>,
    range: Range<u64>,
    finder: Finder,
) -> ContentStream {
    let bytes = move |step: Range<usize>| some(&extents[step], &range, &finder);
    stream::iter(steps(runs)).flat_map(bytes).boxed()
}

/// Runs of extents, cut where one step of looking blobs up ends.
pub(super) fn steps(runs: Vec<Range<usize>>) -> impl Iterator<Item = Range<usize>> {
    let cut =
        |run: Range<usize>| run.clone().step_by(STEP).map(move |at| at..run.end.min(at + STEP));
    runs.into_iter().flat_map(cut)
}

/// The bytes of one step.
fn some(extents: &[Extent], range: &Range<u64>, finder: &Finder) -> ContentStream {
    let extents: Vec<_> = extents.iter().filter_map(|extent| clip(extent, range)).collect();
    match finder.blobs_of(&extents) {
        Ok(blobs) => {
            let finder = finder.clone();
            stream::iter(extents).flat_map(move |extent| run(extent, &blobs, &finder)).boxed()
        }
        Err(error) => stream::once(async { Err(error) }).boxed(),
    }
}

/// The bytes of one extent.
fn run(extent: Extent, blobs: &[ReachableBlob], finder: &Finder) -> ContentStream {
    let Extent { length, start, piece, .. } = extent;
    match piece {
        Piece::Inline(bytes) => {
            let bytes = Bytes::from(bytes).slice(start as usize..(start + length) as usize);
            stream::once(async { Ok(bytes) }).boxed()
        }
        Piece::Hole => zeros(length),
        Piece::Blob(id) => {
            match blobs.iter().find(|blob| blob.id == id) {
                Some(blob) => BlobRun::new(blob, start..start + length, finder.clone()).stream(),
                None => stream::once(async move {
                    Err(Error::damaged(format!("blob {id} is not laid out")))
                })
                .boxed(),
            }
        }
    }
}

/// The bytes of a range of a blob, in progress.
pub(super) struct BlobRun {
    blob: ReachableBlob,
    /// The remaining entries.
    rest: Range<u64>,
    reading: Option<ReadStream>,
    /// The copies to read, the first one first.
    sources: VecDeque<Source>,
    /// Those that failed at the byte that comes next.
    failed: Vec<Source>,
    /// Those whose damage was noted.
    blamed: Vec<PlaceId>,
    /// Up to here blocks are read one by one, as a run of them was damaged somewhere.
    one_by_one: u64,
    /// The checksums of the blocks that come next.
    blocks: Option<Blocks>,
    /// The error to end with, if no copy is left.
    fault: Error,
    finder: Finder,
}

impl BlobRun {
    pub(super) fn new(blob: &ReachableBlob, rest: Range<u64>, finder: Finder) -> Self {
        let (fault, sources) = (blob.nowhere(), blob.sources.clone().into());
        Self {
            blob: blob.clone(),
            rest,
            reading: None,
            sources,
            failed: Vec::new(),
            blamed: Vec::new(),
            one_by_one: 0,
            blocks: None,
            fault,
            finder,
        }
    }

    /// Notes no damage: it is known already.
    pub(super) fn without_notes(mut self) -> Self {
        self.blamed = self.sources.iter().map(Source::place).collect();
        self
    }

    pub(super) fn stream(self) -> ContentStream {
        stream::try_unfold(self, Self::step).boxed()
    }

    async fn step(mut self) -> Result<Option<(Bytes, Self)>> {
        while !self.rest.is_empty() {
            let Some(chunks) = &mut self.reading else {
                self.read_on()?;
                continue;
            };
            match chunks.next().await {
                Some(Ok(chunk)) => {
                    self.rest.start += chunk.len() as u64;
                    self.sources.extend(self.failed.drain(..));
                    return Ok(Some((chunk, self)));
                }
                Some(Err(error)) => self.give_up(error),
                // The current read is finished.
                None => self.reading = None,
            }
        }
        Ok(None)
    }

    /// Begins with the next bytes, as far as their checksums are read at once.
    fn read_on(&mut self) -> Result<()> {
        let Some(source) = self.sources.front() else {
            return Err(std::mem::replace(&mut self.fault, self.blob.nowhere()));
        };
        let ReachableBlob { id, record, .. } = &self.blob;
        if self.blocks.as_ref().is_none_or(|blocks| !blocks.range().contains(&self.rest.start)) {
            self.blocks = self.finder.blocks(*id, record, &self.rest)?;
            // Otherwise the read would make no progress.
            if self.blocks.as_ref().is_some_and(|blocks| !blocks.range().contains(&self.rest.start))
            {
                return Err(Error::damaged(format!("an extent is longer than its blob {id}")));
            }
        }
        self.reading = Some(match &self.blocks {
            Some(blocks) => source.read_cached(*id, self.next_run(blocks), blocks.clone()),
            None => source.read(*id, self.rest.clone()),
        });
        Ok(())
    }

    /// What is read next in one call.
    fn next_run(&self, blocks: &Blocks) -> Range<u64> {
        let Range { start, end } = self.rest;
        let end = end.min(blocks.range().end);
        match start < self.one_by_one {
            true => start..end.min(start - start % blocks.block() + blocks.block()),
            false => start..end,
        }
    }

    /// Continues with the next copy. The failed one is tried again after the byte where it failed.
    fn give_up(&mut self, error: BlobError) {
        let block = self.blocks.as_ref().map(Blocks::block).filter(|_| is_of_a_block(&error));
        if let Some(source) = self.sources.pop_front() {
            if !self.blamed.contains(&source.place()) {
                source.blame(self.blob.id, &error, self.finder.damage());
                self.blamed.push(source.place());
            }
            match block.filter(|_| self.one_by_one <= self.rest.start) {
                // This copy may have the first of those blocks intact.
                Some(block) => {
                    self.one_by_one = self.rest.start.saturating_add(block.max(AT_ONCE));
                    self.sources.push_back(source);
                }
                None => self.failed.push(source),
            }
        }
        self.fault = error.into();
        self.reading = None;
    }
}

fn is_of_a_block(error: &BlobError) -> bool {
    matches!(error, BlobError::Damaged { damage: Damage::Block { .. }, .. })
}

fn zeros(length: u64) -> ContentStream {
    const BLOCK: u64 = 256 << 10;
    let block = Bytes::from(vec![0; BLOCK.min(length) as usize]);
    let runs = (0..length).step_by(BLOCK as usize);
    stream::iter(runs.map(move |at| Ok(block.slice(..BLOCK.min(length - at) as usize)))).boxed()
}
