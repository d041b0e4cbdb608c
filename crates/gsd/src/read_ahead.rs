//! A cache for sources where each request is dear.
//!
//! Small reads (the header, names, index, scalars) are answered from blocks that were fetched
//! before. When blocks are asked for in order, ever larger runs of them are fetched at once, so
//! that reading a trajectory from its first frame to its last costs few requests. Reads larger
//! than a run go to the source directly.

use std::collections::VecDeque;
use std::io;
use std::sync::{Mutex, PoisonError};

use crate::source::Source;

/// The smallest run that is fetched.
const FIRST_RUN: u64 = 64 << 10;
/// The largest run that is fetched.
const LAST_RUN: u64 = 8 << 20;
/// Runs that are kept.
const KEPT: usize = 8;

/// A source that remembers what it read and reads ahead.
#[derive(Debug)]
pub struct ReadAhead<S> {
    source: S,
    runs: Mutex<Runs>,
}

#[derive(Debug, Default)]
struct Runs {
    kept: VecDeque<Run>,
    /// Where the last run ended, and how long it was.
    last_end: u64,
    last_size: u64,
}

#[derive(Debug)]
struct Run {
    start: u64,
    bytes: Vec<u8>,
}

impl Run {
    /// The part of this run from `offset` on, if it begins in it.
    fn from(&self, offset: u64) -> Option<&[u8]> {
        let skip = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        self.bytes.get(skip..).filter(|rest| !rest.is_empty())
    }
}

impl<S: Source> ReadAhead<S> {
    /// Puts a cache of at most 64 MiB before a source.
    pub fn new(source: S) -> Self {
        Self { source, runs: Mutex::default() }
    }

    fn fetch(&self, runs: &mut Runs, offset: u64, wanted: u64) -> io::Result<()> {
        let in_order = offset == runs.last_end && runs.last_size > 0;
        let size = if in_order { (runs.last_size * 2).min(LAST_RUN) } else { FIRST_RUN };
        let left = self.source.size()?.saturating_sub(offset);
        let size = size.max(wanted).min(left);
        if size == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; size as usize];
        self.source.read_at(offset, &mut bytes)?;
        if runs.kept.len() == KEPT {
            runs.kept.pop_front();
        }
        runs.kept.push_back(Run { start: offset, bytes });
        (runs.last_end, runs.last_size) = (offset + size, size);
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
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let mut done = 0;
        while done < buffer.len() {
            let at = offset + done as u64;
            let left = &mut buffer[done..];
            if let Some(found) = runs.kept.iter().rev().find_map(|run| run.from(at)) {
                let size = found.len().min(left.len());
                left[..size].copy_from_slice(&found[..size]);
                done += size;
            } else {
                let wanted = left.len() as u64;
                self.fetch(&mut runs, at, wanted)?;
            }
        }
        Ok(())
    }

    fn request_cost(&self) -> u64 {
        FIRST_RUN
    }
}
