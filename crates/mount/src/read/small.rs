//! Contents of many small files of one directory, read with one request once several of them were read one after the other.
//!
//! Invariant: at most two batches are kept, each of at most [`BATCH`].

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use cenote_client::SmallContent;

/// Larger files are read by themselves.
pub(crate) const LARGEST: u64 = 64 << 10;
/// The most bytes of a batch, and the most files.
pub(crate) const BATCH: u64 = 4 << 20;
pub(crate) const FILES: usize = 1_000;
/// After this many files of a directory the others are read ahead.
const AFTER: u32 = 3;
/// How many batches are kept.
const KEPT: usize = 2;

/// What was read ahead, and where small files are being read.
#[derive(Debug, Default)]
pub(crate) struct SmallFiles(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    batches: VecDeque<HashMap<u64, (String, Bytes)>>,
    /// The directory that small files were read in last, and how many.
    directory: u64,
    streak: u32,
}

impl SmallFiles {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A content that was read ahead, if it still has this tag.
    pub(crate) fn get(&self, id: u64, etag: &str) -> Option<Bytes> {
        let state = self.lock();
        let found = state.batches.iter().rev().find_map(|batch| batch.get(&id))?;
        (found.0 == etag).then(|| found.1.clone())
    }

    /// Notes that a file of a directory is read; returns whether it is worthwhile to read others ahead.
    pub(crate) fn is_worthwhile(&self, directory: u64) -> bool {
        let mut state = self.lock();
        if state.directory != directory {
            (state.directory, state.streak) = (directory, 0);
        }
        state.streak += 1;
        state.streak >= AFTER
    }

    pub(crate) fn keep(&self, found: Vec<SmallContent>) {
        let batch = found.into_iter().map(|found| (found.id, (found.etag, found.bytes)));
        let mut state = self.lock();
        if state.batches.len() == KEPT {
            state.batches.pop_front();
        }
        state.batches.push_back(batch.collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_streak_is_within_one_directory_and_old_batches_are_dropped() {
        let small = SmallFiles::default();
        let worthwhile = [1, 1, 2, 1, 1, 1, 1].map(|directory| small.is_worthwhile(directory));
        assert_eq!(worthwhile, [false, false, false, false, false, true, true]);
        for id in 0..3 {
            let bytes = Bytes::from_static(b"x");
            small.keep(vec![SmallContent { id, etag: "e".to_owned(), bytes }]);
        }
        assert_eq!([0, 1, 2].map(|id| small.get(id, "e").is_some()), [false, true, true]);
        assert!(small.get(1, "other").is_none());
    }
}
