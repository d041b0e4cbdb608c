//! Bytes that were written to a stage and not sent yet.
//!
//! Invariant: the runs do not overlap, and have what was written last, so they can be sent in any order, and as one request.

use std::collections::BTreeMap;
use std::ops::Range;

use bytes::{Bytes, BytesMut};

use super::kept::Written;
use super::pieced::Pieced;

/// One run is sent once it has so many bytes.
pub(super) const RUN: u64 = 1 << 20;
/// Several are sent together once they have so many bytes, or are so many.
const RUNS: (u64, usize) = (4 << 20, 2_048);

/// Runs of bytes, by their offsets.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    runs: BTreeMap<u64, BytesMut>,
    length: u64,
}

impl Gathered {
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Whether it is time to send them.
    pub(super) fn is_full(&self) -> bool {
        match self.runs.len() {
            0 => false,
            1 => self.length >= RUN,
            count => self.length >= RUNS.0 || count >= RUNS.1,
        }
    }

    /// Takes bytes over those that are there.
    pub(super) fn write(&mut self, offset: u64, bytes: &Bytes) {
        if bytes.is_empty() {
            return;
        }
        let end = offset + bytes.len() as u64;
        self.clear(offset..end);
        self.length += bytes.len() as u64;
        let before = self.runs.range_mut(..offset).next_back();
        match before.filter(|(start, run)| **start + run.len() as u64 == offset) {
            Some((_, run)) => run.extend_from_slice(bytes),
            None => drop(self.runs.insert(offset, BytesMut::from(&bytes[..]))),
        }
    }

    /// Removes what there is of a range.
    fn clear(&mut self, range: Range<u64>) {
        while let Some((start, mut run)) = self.take_overlapping(&range) {
            let end = start + run.len() as u64;
            self.length -= end.min(range.end) - start.max(range.start);
            if end > range.end {
                let after = run.split_off((range.end - start) as usize);
                self.runs.insert(range.end, after);
            }
            if start < range.start {
                run.truncate((range.start - start) as usize);
                self.runs.insert(start, run);
            }
        }
    }

    /// Takes out the last run that has bytes of a range.
    fn take_overlapping(&mut self, range: &Range<u64>) -> Option<(u64, BytesMut)> {
        let (start, run) = self.runs.range(..range.end).next_back()?;
        let (start, overlaps) = (*start, start + run.len() as u64 > range.start);
        overlaps.then(|| self.runs.remove(&start)).flatten().map(|run| (start, run))
    }

    /// All of them; none are left.
    pub(super) fn take(&mut self) -> Written {
        self.length = 0;
        let runs = std::mem::take(&mut self.runs).into_iter();
        Written::new(runs.map(|(offset, run)| (offset, run.freeze())).collect())
    }

    /// Puts back what was taken.
    pub(super) fn put_back(&mut self, written: &Written) {
        written.parts().iter().for_each(|(offset, bytes)| self.write(*offset, bytes));
    }

    /// Lays what there is of a range over it.
    pub(super) fn lay_over(&self, read: &mut Pieced) {
        let range = read.range();
        let first = self.runs.range(..range.start).next_back().map_or(range.start, |it| *it.0);
        self.runs.range(first..range.end).for_each(|(offset, run)| read.lay(*offset, run));
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn gathered_runs_agree_with_a_byte_vector(
            writes in vec((0u64..100, vec(1u8.., 0..20)), 0..40), range in (0u64..120, 0u64..120)
        ) {
            let (mut gathered, mut expected) = (Gathered::default(), vec![0_u8; 120]);
            for (offset, bytes) in &writes {
                expected[*offset as usize..][..bytes.len()].copy_from_slice(bytes);
                gathered.write(*offset, &Bytes::copy_from_slice(bytes));
                let length: usize = gathered.runs.values().map(|run| run.len()).sum();
                prop_assert_eq!(gathered.length, length as u64);
            }
            let range = range.0.min(range.1)..range.0.max(range.1);
            let wanted = &expected[range.start as usize..range.end as usize];
            let mut read = Pieced::new(range.clone());
            gathered.lay_over(&mut read);
            let missing: u64 = read.missing().iter().map(|part| part.end - part.start).sum();
            prop_assert_eq!(missing as usize, wanted.iter().filter(|byte| **byte == 0).count());
            let missing = read.missing();
            read.fill(&missing, (10, &[9; 50]));
            let server = |at: usize| if (10..60).contains(&at) { 9 } else { 0 };
            let filled = (range.start as usize..).zip(wanted);
            let filled: Vec<u8> = filled.map(|(at, byte)| if *byte == 0 { server(at) } else { *byte }).collect();
            prop_assert_eq!(&read.into_bytes()[..], &filled[..]);
            let written = gathered.take();
            prop_assert!(gathered.is_empty());
            let mut end = 0;
            for (offset, bytes) in written.parts() {
                prop_assert!(*offset >= end && !bytes.is_empty(), "in ascending order, without overlap");
                end = offset + bytes.len() as u64;
            }
        }
    }

    #[test]
    fn one_run_is_sent_sooner_than_several() {
        let (mut one, mut several) = (Gathered::default(), Gathered::default());
        several.write(9 << 20, &Bytes::from_static(b"x"));
        for at in 0..4_u64 {
            assert!(!several.is_full() && one.is_full() == (at > 0));
            let bytes = Bytes::from(vec![0; RUN as usize]);
            one.write(at * RUN, &bytes);
            several.write(at * RUN, &bytes);
        }
        assert!(several.is_full());
        let mut many = Gathered::default();
        (0..RUNS.1 as u64).for_each(|at| many.write(at * 2, &Bytes::from_static(b"x")));
        assert!(many.is_full());
    }
}
