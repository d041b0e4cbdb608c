//! Block checksums: they verify a range of a blob without reading the rest of it.
//!
//! For the end of each block, the CRC-64/NVME of *all* bytes of the blob up to there is stored. One pass over the
//! bytes yields these and that of the whole blob, and any run of blocks is verified by continuing from the checksum
//! before it. Doubling the block size keeps every second checksum, so their number can be limited.

use std::ops::Range;
use std::sync::Arc;

use crc_fast::CrcAlgorithm::Crc64Nvme;

use crate::Damage;

/// The minimum block size in bytes; larger ones are a power of two times this.
const BLOCK: u64 = 64 << 10;

/// The maximum number of blocks of a blob; a blob of more than 64 GiB has larger blocks.
const MOST: usize = 1 << 20;

/// Checksums of consecutive blocks of a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// The block size in bytes; the last block of a blob may be shorter.
    block: u64,
    /// The size of the blob in bytes.
    size: u64,
    /// The index of the first of these blocks.
    first: u64,
    /// The CRC of the bytes before the first block, then of those up to the end of each.
    sums: Arc<[u64]>,
}

impl Blocks {
    /// Checksums of blocks of `block` bytes, of a blob of `size` bytes, as returned by [`sums`](Self::sums). `None`
    /// if they cannot belong to such a blob.
    pub fn new(block: u64, size: u64, first: u64, sums: impl Into<Arc<[u64]>>) -> Option<Self> {
        let sums = sums.into();
        let known = block >= BLOCK && block.is_power_of_two() && sums.len() > 1;
        let last = first.checked_add(sums.len() as u64)?.checked_sub(1).filter(|_| known)?;
        (last <= size.div_ceil(block)).then_some(Self { block, size, first, sums })
    }

    /// The same for a blob of one block, for which its CRC-64/NVME suffices; `None` for a larger one.
    pub fn of_one(size: u64, crc64nvme: u64) -> Option<Self> {
        (size <= BLOCK).then(|| Self { block: BLOCK, size, first: 0, sums: [0, crc64nvme].into() })
    }

    /// The block size in bytes.
    pub fn block(&self) -> u64 {
        self.block
    }

    /// The CRC of the bytes before each of the blocks, in order, then of those up to the end of the last.
    pub fn sums(&self) -> &[u64] {
        &self.sums
    }

    /// The range of bytes that these blocks cover.
    pub fn range(&self) -> Range<u64> {
        let last = self.first + self.sums.len() as u64 - 1;
        self.first * self.block..last.saturating_mul(self.block).min(self.size)
    }

    /// The smallest range of whole blocks that contains `range`. `None` if some of them are not covered.
    pub(crate) fn around(&self, range: &Range<u64>) -> Option<Range<u64>> {
        let start = range.start - range.start % self.block;
        let end = range.end.div_ceil(self.block).saturating_mul(self.block).min(self.size);
        let all = self.range();
        (range.end <= end && all.start <= start && end <= all.end).then_some(start..end)
    }

    /// The chunk size in whole blocks: `most` bytes, or one block if that is larger.
    pub(crate) fn chunk(&self, most: usize) -> usize {
        most.max(usize::try_from(self.block).unwrap_or(usize::MAX))
    }

    /// Verifies bytes that start at a block boundary, at byte `start` of the blob, and end at one.
    ///
    /// # Errors
    /// [`Damage::Block`] with the first block that differs from what was written.
    pub(crate) fn check(&self, start: u64, bytes: &[u8]) -> Result<(), Damage> {
        if self.fits(start, bytes) {
            return Ok(());
        }
        let mut blocks =
            (start..).step_by(self.block as usize).zip(bytes.chunks(self.block as usize));
        let wrong = blocks.find(|(start, block)| !self.fits(*start, block));
        Err(Damage::Block { start: wrong.map_or(start, |(start, _)| start) })
    }

    fn fits(&self, start: u64, bytes: &[u8]) -> bool {
        let (before, after) = (self.sum_at(start), self.sum_at(start + bytes.len() as u64));
        before.is_some_and(|before| Some(append(before, bytes)) == after)
    }

    /// The CRC of all bytes before `at`, which is a block boundary or the end of the blob.
    fn sum_at(&self, at: u64) -> Option<u64> {
        let index = at.div_ceil(self.block).checked_sub(self.first)?;
        self.sums.get(usize::try_from(index).ok()?).copied()
    }
}

/// Extends a CRC-64/NVME by the bytes that follow.
fn append(before: u64, bytes: &[u8]) -> u64 {
    // The state is the inverted CRC.
    let mut digest = crc_fast::Digest::new_with_init_state(Crc64Nvme, !before);
    digest.update(bytes);
    digest.finalize()
}

/// Computes block checksums, and the CRC-64/NVME of all bytes, incrementally.
#[derive(Debug)]
pub(crate) struct Summing {
    crc: u64,
    size: u64,
    block: u64,
    most: usize,
    sums: Vec<u64>,
}

impl Default for Summing {
    fn default() -> Self {
        Self { crc: 0, size: 0, block: BLOCK, most: MOST, sums: vec![0] }
    }
}

impl Summing {
    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.block - self.size % self.block;
            let (taken, rest) = bytes.split_at(bytes.len().min(room as usize));
            self.crc = append(self.crc, taken);
            self.size += taken.len() as u64;
            bytes = rest;
            if self.size.is_multiple_of(self.block) {
                self.close_block();
            }
        }
    }

    fn close_block(&mut self) {
        self.sums.push(self.crc);
        if self.sums.len() > self.most {
            self.block *= 2;
            self.sums = self.sums.iter().copied().step_by(2).collect();
        }
    }

    /// The CRC of all bytes.
    pub(crate) fn crc(&self) -> u64 {
        self.crc
    }

    pub(crate) fn blocks(&self) -> Blocks {
        let open = (!self.size.is_multiple_of(self.block)).then_some(self.crc);
        let sums: Vec<u64> = self.sums.iter().copied().chain(open).collect();
        Blocks { block: self.block, size: self.size, first: 0, sums: sums.into() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn summed(bytes: &[u8], run: usize, most: usize) -> Summing {
        let mut summing = Summing { most, ..Summing::default() };
        bytes.chunks(run).for_each(|run| summing.update(run));
        summing
    }

    fn noise(size: usize) -> Vec<u8> {
        (0..size).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
    }

    proptest! {
        #[test]
        fn every_run_of_blocks_is_checked_and_every_flipped_bit_is_found(
            (size, run) in (1usize..700_000, 1usize..200_000),
            (most, at, bit) in (3usize..20, any::<prop::sample::Index>(), 0u8..8),
            (from, to) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        ) {
            let mut bytes = noise(size);
            let summing = summed(&bytes, run, most);
            let blocks = summing.blocks();
            prop_assert_eq!(summing.crc(), append(0, &bytes));
            prop_assert_eq!(*blocks.sums().last().unwrap(), summing.crc());
            prop_assert!(blocks.sums().len() <= most + 1);
            prop_assert_eq!(blocks.range(), 0..size as u64);
            let (from, to) = (from.index(size) as u64, to.index(size) as u64);
            let around = blocks.around(&(from.min(to)..from.max(to) + 1)).unwrap();
            let range = around.start as usize..around.end as usize;
            prop_assert_eq!(blocks.check(around.start, &bytes[range.clone()]), Ok(()));
            let at = range.start + at.index(range.len());
            bytes[at] ^= 1 << bit;
            let start = at as u64 - at as u64 % blocks.block();
            prop_assert_eq!(blocks.check(around.start, &bytes[range]), Err(Damage::Block { start }));
        }
    }

    #[test]
    fn checksums_that_do_not_belong_to_the_blob_are_refused() {
        let sums = vec![0, 1, 2];
        assert!(Blocks::new(BLOCK, 2 * BLOCK, 0, sums.clone()).is_some());
        assert!(Blocks::new(BLOCK, 2 * BLOCK, 1, sums.clone()).is_none());
        assert!(Blocks::new(BLOCK + 1, 2 * BLOCK, 0, sums.clone()).is_none());
        assert!(Blocks::new(BLOCK, BLOCK, 0, sums).is_none());
        assert!(Blocks::new(BLOCK, BLOCK, 0, vec![0]).is_none());
        assert!(Blocks::new(BLOCK, BLOCK, 0, vec![]).is_none());
        assert!(Blocks::of_one(BLOCK + 1, 7).is_none());
    }
}
