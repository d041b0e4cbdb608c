//! The bytes of extents, one after the other.

use std::ops::Range;
use std::sync::Arc;
use std::vec::IntoIter;

use bytes::Bytes;
use cenote_blob::ReadStream;
use futures_util::stream::{self, BoxStream, StreamExt};

use super::held::{Finder, Held};
use crate::contents::damage::Damage;
use crate::contents::extents::clip;
use crate::model::{Extent, Piece};
use crate::places::Source;
use crate::{BlobId, Error, Result};

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
            let damage = finder.damage().clone();
            stream::iter(extents).flat_map(move |extent| run(extent, &blobs, &damage)).boxed()
        }
        Err(error) => stream::once(async { Err(error) }).boxed(),
    }
}

/// The bytes of one extent.
fn run(extent: Extent, blobs: &[Held], damage: &Damage) -> ContentStream {
    let Extent { length, start, piece, .. } = extent;
    match piece {
        Piece::Inline(bytes) => {
            let bytes = Bytes::from(bytes).slice(start as usize..(start + length) as usize);
            stream::once(async { Ok(bytes) }).boxed()
        }
        Piece::Hole => zeros(length),
        Piece::Blob(id) => {
            match blobs.iter().find(|held| held.id == id) {
                Some(held) => BlobRun::new(held, start..start + length, damage.clone()).stream(),
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
    id: BlobId,
    /// What is still to come.
    rest: Range<u64>,
    reading: Option<(Source, ReadStream)>,
    sources: IntoIter<Source>,
    /// The error to end with, if no copy is left.
    fault: Error,
    damage: Damage,
}

impl BlobRun {
    fn new(held: &Held, rest: Range<u64>, damage: Damage) -> Self {
        let sources = held.sources.clone().into_iter();
        Self { id: held.id, rest, reading: None, sources, fault: held.nowhere(), damage }
    }

    fn stream(self) -> ContentStream {
        stream::try_unfold(self, Self::step).boxed()
    }

    async fn step(mut self) -> Result<Option<(Bytes, Self)>> {
        while !self.rest.is_empty() {
            let Some((source, chunks)) = &mut self.reading else {
                let Some(source) = self.sources.next() else { return Err(self.fault) };
                let chunks = source.read(self.id, self.rest.clone());
                self.reading = Some((source, chunks));
                continue;
            };
            match chunks.next().await {
                Some(Ok(chunk)) => {
                    self.rest.start += chunk.len() as u64;
                    return Ok(Some((chunk, self)));
                }
                Some(Err(error)) => {
                    source.blame(self.id, &error, &self.damage);
                    self.fault = error.into();
                    self.reading = None;
                }
                None => self.reading = None,
            }
        }
        Ok(None)
    }
}

fn zeros(length: u64) -> ContentStream {
    const BLOCK: u64 = 256 << 10;
    let block = Bytes::from(vec![0; BLOCK.min(length) as usize]);
    let runs = (0..length).step_by(BLOCK as usize);
    stream::iter(runs.map(move |at| Ok(block.slice(..BLOCK.min(length - at) as usize)))).boxed()
}
