//! One block of index entries, read without trusting it: which of its slots hold an entry.

use std::ops::Range;

use super::{Damaged, scan};
use crate::entry::{ENTRY_SIZE, RawEntry};
use crate::error::Result;
use crate::header::HEADER_SIZE;

/// Slots of the index of a fresh file.
const FRESH: u64 = 128;
/// Slots read at a time.
const READ: u64 = 2048;

/// What remains of an index block.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pub(super) start: u64,
    /// The number of slots according to the header; for other blocks, an estimate.
    pub(super) room: u64,
    /// The slots up to the last one with an entry.
    pub(super) slots: Vec<Option<RawEntry>>,
    /// Whether it is the block that the header refers to.
    pub(super) claimed: bool,
    /// Whether its first slot is known to be the first of the index.
    pub(super) begun: bool,
    /// Slots at the start that stand for any number of lost ones.
    pub(super) missing: usize,
    /// Number of slots whose content is not a valid entry.
    pub(super) bad: u64,
}

impl Block {
    /// Reads the slots from `start` on, and keeps a consistent set of entries.
    pub(super) fn read(file: &Damaged<'_>, start: u64, slots: u64) -> Result<Self> {
        let inside = file.size.saturating_sub(start) / ENTRY_SIZE as u64;
        let mut block = Self { start, room: slots, ..Self::default() };
        let mut bytes = Vec::new();
        for first in (0..slots.min(inside)).step_by(READ as usize) {
            bytes.resize((slots.min(inside) - first).min(READ) as usize * ENTRY_SIZE, 0);
            file.source.read_at(start + first * ENTRY_SIZE as u64, &mut bytes)?;
            block.slots.extend(bytes.chunks_exact(ENTRY_SIZE).map(|bytes| {
                Some(RawEntry::decode(bytes)).filter(|_| bytes.iter().any(|&byte| byte != 0))
            }));
        }
        block.keep_ordered(file);
        block.distrust_edges(file);
        Ok(block)
    }

    /// Drops entries that are invalid or out of order.
    pub(super) fn keep_ordered(&mut self, file: &Damaged<'_>) {
        let before = self.entries().count() as u64;
        for slot in &mut self.slots {
            *slot = slot.filter(|raw| file.is_possible(raw));
        }
        let kept = longest_order(self.slots.iter().map(|slot| slot.map(|raw| file.key(&raw))));
        for (slot, kept) in self.slots.iter_mut().zip(kept) {
            *slot = slot.filter(|_| kept);
        }
        self.bad += before - self.entries().count() as u64;
        self.trim();
    }

    /// Drops entries whose first bytes may be damaged because the preceding slot is.
    fn distrust_edges(&mut self, file: &Damaged<'_>) {
        for i in (1..self.slots.len()).rev() {
            if self.slots[i - 1].is_none() {
                self.slots[i] = None;
            }
        }
        if self.start == HEADER_SIZE as u64 {
            self.distrust_first(file);
        }
        self.trim();
    }

    /// Damage to the header may extend into the first entry unnoticed, since an intact header also ends with zeros:
    /// if that is possible, the entry is trusted only if its data end where others start.
    fn distrust_first(&mut self, file: &Damaged<'_>) {
        let Some(first) = self.slots.first().copied().flatten() else { return };
        let Some(end) = first.end() else { return };
        let followed = self.entries().skip(1).any(|(_, other)| other.location == end);
        let fits = first.frame == 0 && (end >= file.size || followed);
        let may_be_hit = file.header.damage_may_go_on || first.rows & 0xFF == 0;
        if may_be_hit && !fits {
            self.slots[0] = None;
        }
    }

    pub(super) fn trim(&mut self) {
        let used = self.slots.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        self.slots.truncate(used);
    }

    /// The entries, with the indices of their slots.
    pub(super) fn entries(&self) -> impl Iterator<Item = (usize, &RawEntry)> {
        self.slots.iter().enumerate().filter_map(|(i, slot)| Some((i, slot.as_ref()?)))
    }

    /// Whether the first slot is known to be the start of the index: according to the header or the layout of a fresh
    /// file, or because data end right before it.
    pub(super) fn is_begun(&self) -> bool {
        let known = self.begun || self.claimed || self.start == HEADER_SIZE as u64;
        known || self.entries().any(|(_, raw)| raw.end() == Some(self.start))
    }

    /// Marks that slots may be lost before the first one, which may be damaged itself.
    pub(super) fn behead(&mut self) {
        if let Some(first) = self.slots.first_mut() {
            *first = None;
        }
        self.slots.insert(0, None);
        self.missing = 1;
    }

    /// Adds slots that precede the known ones in the file.
    pub(super) fn prepend(&mut self, slots: usize) {
        self.slots.splice(0..0, std::iter::repeat_n(None, slots));
        self.start = self.start.saturating_sub((slots * ENTRY_SIZE) as u64);
    }

    /// The range of the slots up to the last entry.
    pub(super) fn used(&self) -> Range<u64> {
        let known = self.slots.len().saturating_sub(self.missing);
        self.start..self.start + (known * ENTRY_SIZE) as u64
    }

    /// The range of the block.
    pub(super) fn area(&self) -> Range<u64> {
        let end = self.start.saturating_add(self.room.saturating_mul(ENTRY_SIZE as u64));
        self.start..end.max(self.used().end)
    }
}

/// The block that the header refers to, if it is plausible, and that of a fresh file.
pub(super) fn where_they_should_be(file: &Damaged<'_>) -> Result<Vec<Block>> {
    let mut blocks = Vec::new();
    let (location, room) = file.header.header.index_block();
    let end = room.checked_mul(ENTRY_SIZE as u64).and_then(|bytes| bytes.checked_add(location));
    // If the file was truncated, the block may be, too.
    let possible = end.is_some_and(|end| end <= file.size)
        || (room.is_power_of_two() && room <= file.size && location < file.size);
    if location >= HEADER_SIZE as u64 && possible {
        blocks.push(Block { claimed: true, ..Block::read(file, location, room)? });
    }
    let fresh = HEADER_SIZE as u64;
    if file.header.damaged {
        blocks.push(scan::read(file, fresh..file.size)?);
    } else if location != fresh {
        blocks.push(Block::read(file, fresh, FRESH)?);
    }
    Ok(blocks)
}

/// Marks the elements of a longest non-decreasing subsequence.
fn longest_order<K: Ord + Copy>(keys: impl Iterator<Item = Option<K>>) -> Vec<bool> {
    // The last element of the best subsequence of each length, and the predecessor of each element.
    let mut ends: Vec<(K, usize)> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::new();
    for (i, key) in keys.enumerate() {
        before.push(None);
        let Some(key) = key else { continue };
        let length = ends.partition_point(|(end, _)| *end <= key);
        before[i] = length.checked_sub(1).map(|shorter| ends[shorter].1);
        match ends.get_mut(length) {
            Some(end) => *end = (key, i),
            None => ends.push((key, i)),
        }
    }
    let mut kept = vec![false; before.len()];
    let mut next = ends.last().map(|(_, i)| *i);
    while let Some(i) = next {
        kept[i] = true;
        next = before[i];
    }
    kept
}
