//! Work on the files of a cache that goes on while somebody else works on the bytes: pieces that are read before they are asked for, and
//! pieces that are written after they were given.
//!
//! Invariant: of each, at most [`AHEAD`] for a read in progress, whatever the length of the blob.

use std::collections::VecDeque;
use std::ops::Range;

use tokio::task::{JoinHandle, spawn_blocking};

use super::Cache;
use super::files::{Found, Piece};
use crate::BlobId;

/// Pieces (1.5 MiB): the disk, and whoever checks one, are then busy while the one before is being sent.
const AHEAD: usize = 3;

/// Pieces of a blob from files, in order.
#[derive(Debug)]
pub(super) struct Ahead {
    cache: Cache,
    id: BlobId,
    /// Those whose reads have not begun.
    numbers: Range<u64>,
    reads: VecDeque<JoinHandle<Option<Found>>>,
}

impl Ahead {
    pub(super) fn of(cache: Cache, id: BlobId, numbers: Range<u64>) -> Self {
        Self { cache, id, numbers, reads: VecDeque::new() }
    }

    /// The next piece; none if it is not in the cache, and then what follows is not asked for.
    pub(super) async fn next(&mut self) -> Option<Found> {
        self.fill();
        self.reads.pop_front()?.await.ok().flatten()
    }

    /// Only what is known to be there is begun.
    fn fill(&mut self) {
        while self.reads.len() < AHEAD && !self.numbers.is_empty() {
            let piece = Piece { id: self.id, number: self.numbers.start };
            if !self.cache.0.has(piece) {
                self.numbers.end = self.numbers.start;
                return;
            }
            self.numbers.start += 1;
            let files = self.cache.0.clone();
            self.reads.push_back(spawn_blocking(move || files.read(piece)));
        }
    }
}

/// Pieces that are being written.
#[derive(Debug, Default)]
pub(super) struct Behind(VecDeque<JoinHandle<()>>);

impl Behind {
    /// Waits for the first of them where there are many. A cache without a piece is a cache, too.
    pub(super) async fn write(&mut self, cache: &Cache, piece: Piece, found: Found) {
        if self.0.len() >= AHEAD
            && let Some(first) = self.0.pop_front()
        {
            let _ = first.await;
        }
        let turn = cache.0.turn(piece.id);
        self.0.push_back(spawn_blocking(move || turn.write(piece, &found)));
    }

    /// Waits for all.
    pub(super) async fn end(&mut self) {
        while let Some(write) = self.0.pop_front() {
            let _ = write.await;
        }
    }
}
