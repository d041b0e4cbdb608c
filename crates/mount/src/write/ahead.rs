//! What was read ahead of a stage: where the kernel does not read ahead itself (`O_DIRECT`, `MADV_RANDOM`), it asks for one page after the other.
//!
//! Invariant: it is what a read would return; what is written over it is no part of it any more.

use std::ops::Range;

use bytes::Bytes;

/// At most so many bytes are read ahead, and in memory.
const MOST: u64 = 1 << 20;

/// Bytes that were read ahead, if the reads of a stage follow each other.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    start: u64,
    bytes: Bytes,
    /// Where the last read ended.
    next: u64,
    /// How many bytes were requested last.
    requested: u64,
}

impl Ahead {
    /// The bytes of a range, if they are there.
    pub(super) fn get(&mut self, range: &Range<u64>) -> Option<Bytes> {
        if range.start < self.start || range.end > self.end() {
            return None;
        }
        self.next = range.end;
        Some(self.slice(range))
    }

    /// What to request for a range: twice as much as the last time if it follows the last one, and otherwise no more than it.
    pub(super) fn window(&mut self, range: &Range<u64>, size: u64) -> Range<u64> {
        let length = range.end - range.start;
        let more = if range.start == self.next { (2 * self.requested).min(MOST) } else { 0 };
        self.requested = length.max(more);
        range.start..(range.start + self.requested).min(size).max(range.end)
    }

    /// Takes the bytes that were requested for a range, and returns those of the range.
    pub(super) fn take(&mut self, range: &Range<u64>, bytes: Bytes) -> Bytes {
        (self.start, self.bytes, self.next) = (range.start, bytes, range.end);
        self.slice(range)
    }

    /// A range is written over. Of what is there, only what follows it stays; if some of the rest was not read yet, less is requested the next time.
    pub(super) fn cut(&mut self, range: &Range<u64>) {
        if range.start < self.end() && range.end > self.start {
            let gone = (range.end - self.start).min(self.bytes.len() as u64);
            if range.end > self.next {
                self.requested = 0;
            }
            (self.start, self.bytes) = (self.start + gone, self.bytes.slice(gone as usize..));
        }
    }

    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    fn slice(&self, range: &Range<u64>) -> Bytes {
        self.bytes.slice((range.start - self.start) as usize..(range.end - self.start) as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_reads_that_follow_each_other_request_more() {
        let mut ahead = Ahead::default();
        let mut requested = Vec::new();
        for page in 0..1_024 {
            let range = page * 4_096..(page + 1) * 4_096;
            if ahead.get(&range).is_none() {
                let window = ahead.window(&range, 4 << 20);
                requested.push(window.end - window.start);
                let length = (window.end - window.start) as usize;
                ahead.take(&range, vec![0; length].into());
            }
        }
        assert!(requested.len() < 16, "{requested:?}");
        assert_eq!((requested[0], requested[1], requested[9]), (4_096, 8_192, MOST));
        assert_eq!(ahead.window(&(4_096..8_192), 4 << 20), 4_096..8_192);
    }

    proptest! {
        #[test]
        fn what_is_read_ahead_is_what_was_written_last(
            steps in vec((any::<bool>(), 0..200_u64, 1..40_u64, any::<u8>()), 0..80)
        ) {
            let (mut ahead, mut bytes, mut next) = (Ahead::default(), vec![0_u8; 240], 0);
            for (writes, at, length, byte) in steps {
                let start = if byte % 2 == 0 { at } else { next.min(200) };
                let range = start..start + length;
                let part = start as usize..range.end as usize;
                if writes {
                    ahead.cut(&range);
                    bytes[part].fill(byte);
                    continue;
                }
                let read = ahead.get(&range).unwrap_or_else(|| {
                    let window = ahead.window(&range, 240);
                    let all = &bytes[window.start as usize..window.end as usize];
                    ahead.take(&range, Bytes::copy_from_slice(all))
                });
                prop_assert_eq!(&read[..], &bytes[part]);
                next = range.end;
            }
        }
    }
}
