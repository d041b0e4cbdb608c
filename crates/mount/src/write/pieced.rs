//! A range of a stage that is read: put together from what is in memory, and what the server has.
//!
//! Invariant: what is laid later lies over what was laid before; the bytes of the server only fill what is missing, and what it does not have is zeros.

use std::ops::Range;

use bytes::Bytes;

/// A range of bytes, of which some are filled in.
#[derive(Debug)]
pub(super) struct Pieced {
    range: Range<u64>,
    bytes: Vec<u8>,
    filled: Vec<Range<u64>>,
}

impl Pieced {
    pub(super) fn new(range: Range<u64>) -> Self {
        let bytes = vec![0; (range.end - range.start) as usize];
        Self { range, bytes, filled: Vec::new() }
    }

    pub(super) fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Lays bytes at an offset over what is there.
    pub(super) fn lay(&mut self, offset: u64, run: &[u8]) {
        if let Some(part) = self.copy(offset, run, self.range()) {
            self.filled.push(part);
        }
    }

    /// Copies the bytes of a run that are in `part`, which is in the range.
    fn copy(&mut self, offset: u64, run: &[u8], part: Range<u64>) -> Option<Range<u64>> {
        let start = offset.max(part.start);
        let end = (offset + run.len() as u64).min(part.end);
        if start >= end {
            return None;
        }
        let at = |position: u64, from: u64| (position - from) as usize;
        let into = at(start, self.range.start)..at(end, self.range.start);
        self.bytes[into].copy_from_slice(&run[at(start, offset)..at(end, offset)]);
        Some(start..end)
    }

    /// What nothing was laid on, in ascending order.
    pub(super) fn missing(&mut self) -> Vec<Range<u64>> {
        self.filled.sort_unstable_by_key(|filled| filled.start);
        let (mut missing, mut end) = (Vec::new(), self.range.start);
        for filled in &self.filled {
            if filled.start > end {
                missing.push(end..filled.start);
            }
            end = end.max(filled.end);
        }
        if end < self.range.end {
            missing.push(end..self.range.end);
        }
        missing
    }

    /// Fills what is missing from the bytes that the server has from an offset on.
    pub(super) fn fill(&mut self, missing: &[Range<u64>], (offset, bytes): (u64, &[u8])) {
        for part in missing {
            self.copy(offset, bytes, part.clone());
        }
    }

    pub(super) fn into_bytes(self) -> Bytes {
        self.bytes.into()
    }
}
