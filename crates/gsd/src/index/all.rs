//! Iterates over the whole index once, in blocks that are larger than pages and not cached.

use std::io;

use super::Index;
use crate::entry::{ENTRY_SIZE, RawEntry};
use crate::error::Result;
use crate::source::Source;

/// Entries of one block: 64 KiB.
const BLOCK: u64 = 2048;

/// Every entry of an index, in order. Ends after the first error.
pub(crate) struct AllEntries<'a> {
    index: &'a Index,
    source: &'a dyn Source,
    next: u64,
    block: Vec<u8>,
}

impl Index {
    pub(crate) fn all<'a>(&'a self, source: &'a dyn Source) -> AllEntries<'a> {
        AllEntries { index: self, source, next: 0, block: Vec::new() }
    }
}

impl AllEntries<'_> {
    fn read_block(&mut self) -> io::Result<()> {
        let entries = BLOCK.min(self.index.used - self.next);
        self.block.resize(entries as usize * ENTRY_SIZE, 0);
        self.source.read_at(self.index.at(self.next), &mut self.block)
    }
}

impl Iterator for AllEntries<'_> {
    type Item = Result<RawEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.index.used {
            return None;
        }
        let at = (self.next % BLOCK) as usize * ENTRY_SIZE;
        if at == 0
            && let Err(error) = self.read_block()
        {
            self.next = self.index.used;
            return Some(Err(error.into()));
        }
        self.next += 1;
        Some(Ok(RawEntry::decode(&self.block[at..at + ENTRY_SIZE])))
    }
}
