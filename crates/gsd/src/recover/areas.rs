//! Tracks which bytes of the file are accounted for.

use std::ops::Range;

use super::block::Block;
use crate::entry::RawEntry;

/// The ranges known to belong to something, sorted and disjoint.
#[derive(Clone, Debug, Default)]
pub(super) struct Areas {
    owned: Vec<Range<u64>>,
    size: u64,
}

impl Areas {
    /// Those of the blocks, and of the data that the first block refers to.
    pub(super) fn of(blocks: &[Block], size: u64) -> Self {
        let data = blocks.iter().take(1).flat_map(|block| block.entries());
        let data = data.filter_map(|(_, raw)| raw.area());
        Self::new(data.chain(blocks.iter().map(Block::area)), size)
    }

    pub(super) fn new(areas: impl Iterator<Item = Range<u64>>, size: u64) -> Self {
        let mut all: Vec<_> = areas.filter(|area| !area.is_empty()).collect();
        all.sort_unstable_by_key(|area| area.start);
        let mut owned: Vec<Range<u64>> = Vec::new();
        for area in all {
            match owned.last_mut() {
                Some(last) if area.start <= last.end => last.end = last.end.max(area.end),
                _ => owned.push(area),
            }
        }
        Self { owned, size }
    }

    /// The ranges between them.
    pub(super) fn gaps(&self) -> Vec<Range<u64>> {
        let starts = self.owned.iter().map(|area| area.start).chain([self.size]);
        let ends = [0].into_iter().chain(self.owned.iter().map(|area| area.end));
        ends.zip(starts).filter(|(end, start)| end < start).map(|(end, start)| end..start).collect()
    }
}

impl RawEntry {
    /// The end of its data, if its type is known.
    pub(super) fn end(&self) -> Option<u64> {
        let kind = crate::chunk_type::ChunkType::from_number(self.kind)?;
        crate::entry::byte_size(self.rows, self.columns, kind)?.checked_add(self.location)
    }

    /// The bytes of its data.
    pub(super) fn area(&self) -> Option<Range<u64>> {
        Some(self.location..self.end()?)
    }
}
