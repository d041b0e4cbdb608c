//! Index entries that also exist in blocks the index has outgrown: identical, at the same positions.

use std::collections::HashMap;

use super::Damaged;
use super::block::Block;
use crate::entry::RawEntry;

/// Restores lost entries of the first block from the others, and drops blocks that belong to other files: a chunk may
/// contain a whole GSD file.
pub(super) fn fill(file: &Damaged<'_>, blocks: &mut Vec<Block>) {
    let mut all = std::mem::take(blocks).into_iter();
    let Some(mut index) = all.next() else { return };
    for copy in all {
        if let Some(shift) = shift(file, &index, &copy) {
            merge(&mut index, &copy, shift);
            blocks.push(copy);
        }
    }
    if !index.is_begun() {
        index.behead();
    }
    // Entries restored from copies must be in order, too.
    index.keep_ordered(file);
    blocks.insert(0, index);
}

/// By how many slots the copy starts later than the index, if it is a copy.
fn shift(file: &Damaged<'_>, index: &Block, copy: &Block) -> Option<i64> {
    let slots: HashMap<_, _> = index.entries().map(|(i, raw)| (raw.encode(), i)).collect();
    let mut shifts = HashMap::new();
    for (i, raw) in copy.entries() {
        if let Some(&slot) = slots.get(&raw.encode()) {
            *shifts.entry(slot as i64 - i as i64).or_insert(0) += 1;
        }
    }
    let agreed = shifts.into_iter().max_by_key(|(_, count)| *count).map(|(shift, _)| shift);
    agreed.or_else(|| fits_before(file, index, copy).then_some(0))
}

/// Whether the first block of the file can be the lost start of the index.
fn fits_before(file: &Damaged<'_>, index: &Block, copy: &Block) -> bool {
    let fresh = copy.start == crate::header::HEADER_SIZE as u64;
    let Some((slot, first)) = index.entries().next() else { return fresh };
    let before = copy.entries().last().is_some_and(|(_, last)| file.key(last) <= file.key(first));
    fresh && slot >= copy.slots.len() && before
}

fn merge(index: &mut Block, copy: &Block, shift: i64) {
    if shift < 0 {
        // The known part of the index does not include its start.
        index.prepend(shift.unsigned_abs() as usize);
    }
    let shift = shift.max(0) as usize;
    index.begun |= shift == 0 && copy.is_begun();
    let end = copy.slots.len() + shift;
    index.slots.resize(index.slots.len().max(end), None);
    for (i, raw) in copy.entries() {
        let ours = index.slots[i + shift];
        index.slots[i + shift] = match ours {
            None => Some(*raw),
            Some(ours) if ours == *raw => Some(ours),
            // One of the two has been changed.
            Some(ours) => more_likely(index, &ours, raw),
        };
    }
}

/// Of two versions, the one whose data end where other data start.
fn more_likely(index: &Block, ours: &RawEntry, other: &RawEntry) -> Option<RawEntry> {
    let fits = |raw: &RawEntry| index.entries().any(|(_, next)| Some(next.location) == raw.end());
    match (fits(ours), fits(other)) {
        (true, false) => Some(*ours),
        (false, true) => Some(*other),
        _ => None,
    }
}
