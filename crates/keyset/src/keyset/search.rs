//! Searching ordered sequences.

use std::cmp::Ordering;

use crate::block::{Block, Entry, Flags};
use crate::name::{self, NameRef};

/// Like `binary_search_by`, but with branches: while one name is still being loaded from memory, the processor
/// continues speculatively with the next.
#[inline]
pub(super) fn search<T>(items: &[T], compare: impl Fn(&T) -> Ordering) -> Result<usize, usize> {
    let (mut from, mut to) = (0, items.len());
    while from < to {
        let middle = (from + to) / 2;
        match compare(&items[middle]) {
            Ordering::Less => from = middle + 1,
            Ordering::Equal => return Ok(middle),
            Ordering::Greater => to = middle,
        }
    }
    Err(from)
}

/// Searches the entries of a block; if the name is below the block's parent, only the part after the parent is
/// compared.
pub(super) fn search_run(
    block: &Block,
    entries: &[Entry],
    name: NameRef<'_>,
) -> Result<usize, usize> {
    let tail = name.plain.then(|| name.tail_below(block.head())).flatten();
    search(entries, |entry| {
        let other = block.name_of(entry);
        match tail {
            Some(tail) if other.plain && !entry.has(Flags::COMPLETE) => {
                name::compare_plain(other.tail, tail)
            }
            _ => other.cmp(&name),
        }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_finds_existing_items_and_insertion_points(items: BTreeSet<u8>, wanted: u8) {
            let items: Vec<u8> = items.into_iter().collect();
            let found = search(&items, |item| item.cmp(&wanted));
            prop_assert_eq!(found, items.binary_search(&wanted));
        }
    }
}
