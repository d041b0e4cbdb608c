//! A cache for sources with expensive requests.
//!
//! Small reads (the header, names, index, scalars) are served from blocks that were fetched before. When blocks are
//! read sequentially, increasingly large runs of them are fetched at once, so that reading a trajectory from its
//! first frame to its last takes few requests. Reads larger than a run go to the source directly.

//!
//! Invariant: no lock is held during a request. Threads that need bytes which another thread has requested wait for
//! those; all others continue.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::source::Source;

/// The smallest run fetched.
const FIRST_RUN: u64 = 64 << 10;
/// The largest run fetched.
const LAST_RUN: u64 = 8 << 20;
/// Number of runs cached.
const KEPT: usize = 8;

/// A source with a cache and read-ahead.
#[derive(Debug)]
pub struct ReadAhead<S> {
    source: S,
    runs: Mutex<Runs>,
    /// Notified when a request is done.
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Runs {
    kept: VecDeque<Run>,
    /// The ranges being requested.
    coming: Vec<Range<u64>>,
    /// The end of the last run, and its length.
    last_end: u64,
    last_size: u64,
}

#[derive(Debug)]
struct Run {
    start: u64,
    bytes: Vec<u8>,
}

/// A request in progress; it ends when this is dropped.
struct Coming<'a, S> {
    ahead: &'a ReadAhead<S>,
    range: Range<u64>,
}

impl<S> Drop for Coming<'_, S> {
    fn drop(&mut self) {
        self.ahead.lock().coming.retain(|range| *range != self.range);
        self.ahead.arrived.notify_all();
    }
}

impl Runs {
    /// The range to fetch for bytes at `offset` of a source that ends at `end`.
    fn next(&self, offset: u64, wanted: u64, end: u64) -> Range<u64> {
        let in_order = offset == self.last_end && self.last_size > 0;
        let size = if in_order { (self.last_size * 2).min(LAST_RUN) } else { FIRST_RUN };
        offset..offset + size.max(wanted).min(end.saturating_sub(offset))
    }

    fn keep(&mut self, run: Run) {
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(run);
    }
}

impl Run {
    /// The part of this run starting at `offset`, if that is in it.
    fn from(&self, offset: u64) -> Option<&[u8]> {
        let skip = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        self.bytes.get(skip..).filter(|rest| !rest.is_empty())
    }
}

impl<S> ReadAhead<S> {
    fn lock(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Source> ReadAhead<S> {
    /// Wraps a source in a cache of at most 64 MiB.
    pub fn new(source: S) -> Self {
        Self { source, runs: Mutex::default(), arrived: Condvar::new() }
    }

    /// Fetches a run that starts at `offset`.
    fn fetch(&self, mut runs: MutexGuard<'_, Runs>, offset: u64, wanted: u64) -> io::Result<()> {
        let range = runs.next(offset, wanted, self.source.size()?);
        if range.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let size = range.end - range.start;
        (runs.last_end, runs.last_size) = (range.end, size);
        runs.coming.push(range.clone());
        drop(runs);
        let _coming = Coming { ahead: self, range };
        let mut bytes = vec![0; size as usize];
        self.source.read_at(offset, &mut bytes)?;
        self.lock().keep(Run { start: offset, bytes });
        Ok(())
    }
}

impl<S: Source> Source for ReadAhead<S> {
    fn size(&self) -> io::Result<u64> {
        self.source.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if buffer.len() as u64 >= LAST_RUN {
            return self.source.read_at(offset, buffer);
        }
        let mut runs = self.lock();
        let mut done = 0;
        while done < buffer.len() {
            let at = offset + done as u64;
            let left = &mut buffer[done..];
            if let Some(found) = runs.kept.iter().rev().find_map(|run| run.from(at)) {
                let size = found.len().min(left.len());
                left[..size].copy_from_slice(&found[..size]);
                done += size;
            } else if runs.coming.iter().any(|range| range.contains(&at)) {
                runs = self.arrived.wait(runs).unwrap_or_else(PoisonError::into_inner);
            } else {
                let wanted = left.len() as u64;
                self.fetch(runs, at, wanted)?;
                runs = self.lock();
            }
        }
        Ok(())
    }

    fn request_cost(&self) -> u64 {
        FIRST_RUN
    }
}
