//! Finds entries of a block by a hash of their names. The index is built once the lookups have taken about as long as
//! building it would; until then they use binary search.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The index is built after one binary search per this many entries.
const ENTRIES_PER_SEARCH: usize = 16;
const EMPTY: u32 = u32::MAX;

/// An index that may not have been built yet.
#[derive(Default)]
pub(crate) struct NameIndex {
    searches: AtomicUsize,
    table: OnceLock<Table>,
}

/// Entries by hash; on a collision, the next free slot is used.
struct Table {
    slots: Box<[u32]>,
    hasher: RandomState,
}

impl NameIndex {
    /// The entry with this name among `len`, whose names `name_of` returns; `None` if the caller should search instead.
    pub(crate) fn find<'a>(
        &self,
        name: &[u8],
        len: usize,
        name_of: impl Fn(u32) -> &'a [u8],
    ) -> Option<Option<u32>> {
        let table = match self.table.get() {
            Some(table) => table,
            None => {
                let searches = self.searches.fetch_add(1, Ordering::Relaxed);
                if searches < len / ENTRIES_PER_SEARCH {
                    return None;
                }
                self.table.get_or_init(|| Table::new(len as u32, &name_of))
            }
        };
        Some(table.probe(name).find(|entry| name_of(*entry) == name))
    }
}

impl Table {
    fn new<'a>(len: u32, name_of: &impl Fn(u32) -> &'a [u8]) -> Self {
        let slots = vec![EMPTY; (len as usize * 2).next_power_of_two()].into();
        let mut table = Self { slots, hasher: RandomState::new() };
        for entry in 0..len {
            let mut at = table.start(name_of(entry));
            while table.slots[at] != EMPTY {
                at = (at + 1) & (table.slots.len() - 1);
            }
            table.slots[at] = entry;
        }
        table
    }

    fn start(&self, name: &[u8]) -> usize {
        // The number of slots is a power of two.
        self.hasher.hash_one(name) as usize & (self.slots.len() - 1)
    }

    /// The entries that may have this name.
    fn probe(&self, name: &[u8]) -> impl Iterator<Item = u32> {
        let start = self.start(name);
        let slots = self.slots[start..].iter().chain(&self.slots[..start]);
        slots.copied().take_while(|entry| *entry != EMPTY)
    }
}
