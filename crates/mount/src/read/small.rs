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
/// After how many files that were read by themselves it is tried again to read others ahead, and how many.
const AGAIN: (usize, usize) = (64, 8);
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
    use_of: Use,
}

/// How the files of the last batch are used. In a directory that is read here and there, a batch would cost more than it saves.
#[derive(Debug)]
struct Use {
    /// How many files are read at a time.
    length: usize,
    /// How many files the last batch has.
    fetched: usize,
    /// How many reads since then found what had been read ahead, and how many did not.
    hits: usize,
    misses: usize,
}

impl Default for Use {
    fn default() -> Self {
        Self { length: FILES, fetched: 0, hits: 0, misses: 0 }
    }
}

impl Use {
    /// Notes that a file is read that was not read ahead; returns how many to read now, which is one if others are not worthwhile.
    fn miss(&mut self) -> usize {
        self.misses += 1;
        let reads = self.hits + self.misses;
        if self.length < 2 {
            let again = self.misses.is_multiple_of(AGAIN.0);
            self.length = if again { AGAIN.1 } else { 1 };
            return self.length;
        }
        if self.fetched == 0 {
            return self.length;
        }
        if 2 * self.hits >= reads {
            self.length = (4 * self.length).min(FILES);
            return self.length;
        }
        // An eighth as many reads as it has files tell that it is not used.
        if 8 * reads < self.fetched {
            return 1;
        }
        self.length /= 4;
        self.length.max(1)
    }

    /// Notes that files were read ahead. The one that they were read with is found among them at once, which says nothing.
    fn fetch(&mut self, files: usize) {
        *self = Self { fetched: files, length: self.length, hits: 0, misses: 1 };
    }
}

impl SmallFiles {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A content that was read ahead, if it still has this tag.
    pub(crate) fn get(&self, id: u64, etag: &str) -> Option<Bytes> {
        let mut state = self.lock();
        let found = state.find(id, etag)?;
        state.use_of.hits += 1;
        Some(found)
    }

    /// Whether a content was read ahead.
    pub(crate) fn has(&self, id: u64, etag: &str) -> bool {
        self.lock().find(id, etag).is_some()
    }

    /// Notes that a file of a directory is read that was not read ahead; returns how many files to read now.
    pub(crate) fn worthwhile(&self, directory: u64) -> usize {
        let mut state = self.lock();
        if state.directory != directory {
            (state.directory, state.streak, state.use_of) = (directory, 0, Use::default());
        }
        state.streak += 1;
        if state.streak >= AFTER { state.use_of.miss() } else { 1 }
    }

    pub(crate) fn keep(&self, found: Vec<SmallContent>) {
        let files = found.len();
        let batch = found.into_iter().map(|found| (found.id, (found.etag, found.bytes)));
        let mut state = self.lock();
        state.use_of.fetch(files);
        if state.batches.len() == KEPT {
            state.batches.pop_front();
        }
        state.batches.push_back(batch.collect());
    }
}

impl State {
    fn find(&self, id: u64, etag: &str) -> Option<Bytes> {
        let found = self.batches.iter().rev().find_map(|batch| batch.get(&id))?;
        (found.0 == etag).then(|| found.1.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_streak_is_within_one_directory_and_old_batches_are_dropped() {
        let small = SmallFiles::default();
        let worthwhile = [1, 1, 2, 1, 1, 1].map(|directory| small.worthwhile(directory));
        assert_eq!(worthwhile, [1, 1, 1, 1, 1, FILES]);
        for id in 0..3 {
            let bytes = Bytes::from_static(b"x");
            small.keep(vec![SmallContent { id, etag: "e".to_owned(), bytes }]);
        }
        assert_eq!([0, 1, 2].map(|id| small.get(id, "e").is_some()), [false, true, true]);
        assert!(small.get(1, "other").is_none());
    }

    /// Reads files, each with the ones after it if that is worthwhile; returns how many requests there were, and for how many files.
    fn read(order: impl Iterator<Item = u64>, count: u64) -> (usize, u64) {
        let small = SmallFiles::default();
        let (mut requests, mut files) = (0, 0);
        for id in order {
            if small.get(id, "e").is_some() {
                continue;
            }
            let ahead = (id..count).filter(|id| !small.has(*id, "e"));
            let batch: Vec<u64> = ahead.take(small.worthwhile(1)).collect();
            (requests, files) = (requests + 1, files + batch.len() as u64);
            let content = |id| SmallContent { id, etag: "e".to_owned(), bytes: Bytes::new() };
            if batch.len() > 1 {
                small.keep(batch.into_iter().map(content).collect());
                small.get(id, "e").unwrap();
            }
        }
        (requests, files)
    }

    #[test]
    fn files_are_read_ahead_as_long_as_they_are_used() {
        assert_eq!(read(0..10_000, 10_000), (12, 10_000));
        // Here and there.
        let (requests, files) = read((0..3_000).map(|n| n * 7_919 % 50_000), 50_000);
        assert!(requests > 2_000 && files < 6_000, "{requests} {files}");
        // In order again after that.
        let order = (0..3_000).map(|n| n * 7_919 % 50_000).chain(20_000..50_000);
        let (again, _) = read(order, 50_000);
        assert!(again < requests + 300, "{again} {requests}");
    }
}
