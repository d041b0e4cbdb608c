//! The bytes of extents, one after the other.
//!
//! Invariant: no byte of a blob is given before the block that it lies in was found right, where the checksums of its blocks
//! are known.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use cenote_blob::{Blocks, Error as BlobError, ReadStream};
use futures_util::stream::{self, BoxStream, StreamExt};

use super::held::{Finder, Held};
use crate::contents::extents::clip;
use crate::model::{Extent, Piece};
use crate::places::Source;
use crate::{Error, Result};

/// Bytes of a content, in order.
pub type ContentStream = BoxStream<'static, Result<Bytes>>;

/// The blobs of so many extents are looked up at once.
const STEP: usize = 32;

/// The bytes of runs of extents, as far as they lie in `range`.
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
    match finder.held(&extents) {
        Ok(blobs) => {
            let finder = finder.clone();
            stream::iter(extents).flat_map(move |extent| run(extent, &blobs, &finder)).boxed()
        }
        Err(error) => stream::once(async { Err(error) }).boxed(),
    }
}

/// The bytes of one extent.
fn run(extent: Extent, blobs: &[Held], finder: &Finder) -> ContentStream {
    let Extent { length, start, piece, .. } = extent;
    match piece {
        Piece::Inline(bytes) => {
            let bytes = Bytes::from(bytes).slice(start as usize..(start + length) as usize);
            stream::once(async { Ok(bytes) }).boxed()
        }
        Piece::Hole => zeros(length),
        Piece::Blob(id) => {
            match blobs.iter().find(|held| held.id == id) {
                Some(held) => BlobRun::new(held, start..start + length, finder.clone()).stream(),
                None => stream::once(async move {
                    Err(Error::damaged(format!("blob {id} is not laid out")))
                })
                .boxed(),
            }
        }
    }
}

/// The bytes of a range of a blob, under way.
struct BlobRun {
    held: Held,
    /// What is still to come.
    rest: Range<u64>,
    reading: Option<ReadStream>,
    /// The copies that have not failed, the one to read first.
    sources: VecDeque<Source>,
    /// The checksums of the blocks that come next.
    blocks: Option<Blocks>,
    /// The error to end with, if no copy is left.
    fault: Error,
    finder: Finder,
}

impl BlobRun {
    fn new(held: &Held, rest: Range<u64>, finder: Finder) -> Self {
        let (fault, sources) = (held.nowhere(), held.sources.clone().into());
        Self { held: held.clone(), rest, reading: None, sources, blocks: None, fault, finder }
    }

    fn stream(self) -> ContentStream {
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
                    return Ok(Some((chunk, self)));
                }
                Some(Err(error)) => self.give_up(error),
                // The blocks whose checksums were read are at their end.
                None => self.reading = None,
            }
        }
        Ok(None)
    }

    /// Begins with the next bytes, as far as their checksums are read at once.
    fn read_on(&mut self) -> Result<()> {
        let Some(source) = self.sources.front() else {
            return Err(std::mem::replace(&mut self.fault, self.held.nowhere()));
        };
        let Held { id, record, .. } = &self.held;
        if self.blocks.as_ref().is_none_or(|blocks| !blocks.range().contains(&self.rest.start)) {
            self.blocks = self.finder.blocks(*id, record, &self.rest)?;
            // Else the read would make no progress.
            if self.blocks.as_ref().is_some_and(|blocks| !blocks.range().contains(&self.rest.start))
            {
                return Err(Error::damaged(format!("an extent is longer than its blob {id}")));
            }
        }
        self.reading = Some(match &self.blocks {
            Some(blocks) => {
                let range = self.rest.start..self.rest.end.min(blocks.range().end);
                source.read_checked(*id, range, blocks.clone())
            }
            None => source.read(*id, self.rest.clone()),
        });
        Ok(())
    }

    /// Goes on with the next copy.
    fn give_up(&mut self, error: BlobError) {
        if let Some(source) = self.sources.pop_front() {
            source.blame(self.held.id, &error, self.finder.damage());
        }
        self.fault = error.into();
        self.reading = None;
    }
}

fn zeros(length: u64) -> ContentStream {
    const BLOCK: u64 = 256 << 10;
    let block = Bytes::from(vec![0; BLOCK.min(length) as usize]);
    let runs = (0..length).step_by(BLOCK as usize);
    stream::iter(runs.map(move |at| Ok(block.slice(..BLOCK.min(length - at) as usize)))).boxed()
}
