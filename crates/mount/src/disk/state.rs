//! What a disk cache has, in the order in which it was used.
//!
//! Invariant: `bytes` is the length of all blocks together. A content that was removed and kept again has another generation: a file that
//! was opened before is not read for it.

use std::collections::{BTreeMap, HashMap};

use super::Key;
use super::record::{Block, Record};

/// The contents of which a cache has blocks.
#[derive(Debug, Default)]
pub(super) struct State {
    contents: HashMap<Key, Kept>,
    by_use: BTreeMap<u64, Key>,
    clock: u64,
    pub(super) bytes: u64,
}

/// Blocks with their numbers, and whether each was verified.
pub(super) type Blocks = Vec<(u32, Block, bool)>;

/// The cached blocks of one content.
#[derive(Debug)]
struct Kept {
    generation: u64,
    used: u64,
    /// The blocks, and whether their bytes were compared with their checksums since the cache was opened.
    blocks: BTreeMap<u32, (Block, bool)>,
}

impl State {
    pub(super) fn apply(&mut self, record: Record) {
        match record {
            Record::Removed(key) => self.remove(key),
            Record::Kept(key, number, block) => {
                let generation = self.touch(key);
                self.insert(key, generation, number, block);
            }
        }
    }

    /// The whole state as records, the most recently used at the end.
    pub(super) fn records(&self) -> impl Iterator<Item = Record> {
        self.by_use.values().flat_map(|key| {
            let blocks = self.contents[key].blocks.iter();
            blocks.map(|(number, (block, _))| Record::Kept(*key, *number, *block))
        })
    }

    pub(super) fn contents(&self) -> u64 {
        self.contents.len() as u64
    }

    pub(super) fn has(&self, key: Key) -> bool {
        self.contents.contains_key(&key)
    }

    /// The generation of a content, which is started if there is none.
    pub(super) fn touch(&mut self, key: Key) -> u64 {
        self.clock += 1;
        let now = self.clock;
        let begun = Kept { generation: now, used: now, blocks: BTreeMap::new() };
        let kept = self.contents.entry(key).or_insert(begun);
        self.by_use.remove(&kept.used);
        kept.used = now;
        self.by_use.insert(now, key);
        kept.generation
    }

    /// Notes a block, unless the content is of another generation by now.
    pub(super) fn insert(&mut self, key: Key, generation: u64, number: u32, block: Block) -> bool {
        let Some(kept) = self.contents.get_mut(&key).filter(|it| it.generation == generation)
        else {
            return false;
        };
        self.bytes += u64::from(block.length);
        if let Some((old, _)) = kept.blocks.insert(number, (block, false)) {
            self.bytes -= u64::from(old.length);
        }
        true
    }

    /// The generation of a content and these blocks of it, if all of them are cached.
    pub(super) fn blocks(
        &mut self,
        key: Key,
        numbers: std::ops::RangeInclusive<u32>,
    ) -> Option<(u64, Blocks)> {
        let kept = self.contents.get(&key)?;
        let found = numbers.map(|number| {
            kept.blocks.get(&number).map(|(block, verified)| (number, *block, *verified))
        });
        let found: Option<Blocks> = found.collect();
        Some((self.touch(key), found?))
    }

    pub(super) fn verified(&mut self, key: Key, generation: u64, number: u32) {
        if let Some(kept) = self.contents.get_mut(&key).filter(|it| it.generation == generation)
            && let Some((_, verified)) = kept.blocks.get_mut(&number)
        {
            *verified = true;
        }
    }

    pub(super) fn remove(&mut self, key: Key) {
        if let Some(kept) = self.contents.remove(&key) {
            self.by_use.remove(&kept.used);
            let lengths = kept.blocks.values().map(|(block, _)| u64::from(block.length));
            self.bytes -= lengths.sum::<u64>();
        }
    }

    /// The content that was not used for the longest time.
    pub(super) fn oldest(&self) -> Option<Key> {
        self.by_use.values().next().copied()
    }
}
