//! Sorts index entries; those with equal keys end up in the same order as in the reference.
//!
//! The format allows several chunks of one name in one frame, and which of them a reader finds depends on the result
//! of an unstable sort. So they are sorted exactly as in the reference.

use crate::entry::RawEntry;

/// Sorts by frame and name, with equal keys in the order that the reference's heap sort leaves them.
pub(super) fn by_key(entries: &mut [RawEntry]) {
    let increasing = |pair: &[RawEntry]| pair[0].key() < pair[1].key();
    if entries.windows(2).all(increasing) {
        return;
    }
    let mut sorted = entries.to_vec();
    sorted.sort_unstable_by_key(RawEntry::key);
    if sorted.windows(2).all(increasing) {
        entries.copy_from_slice(&sorted);
    } else {
        heap_sort(entries);
    }
}

fn heap_sort(entries: &mut [RawEntry]) {
    if entries.len() < 2 {
        return;
    }
    for start in (0..=(entries.len() - 2) / 2).rev() {
        sift_down(entries, start, entries.len() - 1);
    }
    for end in (1..entries.len()).rev() {
        entries.swap(0, end);
        sift_down(entries, 0, end - 1);
    }
}

fn sift_down(entries: &mut [RawEntry], mut root: usize, end: usize) {
    while 2 * root < end {
        let left = 2 * root + 1;
        let mut largest = root;
        for child in left..=(left + 1).min(end) {
            if entries[largest].key() < entries[child].key() {
                largest = child;
            }
        }
        if largest == root {
            return;
        }
        entries.swap(root, largest);
        root = largest;
    }
}
