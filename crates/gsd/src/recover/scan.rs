//! Searches the bytes that are not accounted for for index blocks.
//!
//! A block may start at any byte. Several consecutive valid entries in order are taken as the start of one: data are
//! unlikely to look like that.

use std::ops::Range;

use super::Damaged;
use super::areas::Areas;
use super::block::Block;
use crate::entry::{ENTRY_SIZE, RawEntry};
use crate::error::Result;

/// The number of bytes scanned at a time.
const WINDOW: u64 = 1 << 20;
/// Number of entries that identify a block; outgrown blocks have at least 128.
const ENOUGH: usize = 4;
/// A block ends after more than this many slots without an entry.
const MOST_LOST: u64 = 4096;
/// Maximum number of blocks searched for: an index that doubles reaches any size after fewer.
const MOST_BLOCKS: usize = 64;

/// The blocks outside the known areas, in file order.
pub(super) fn blocks(file: &Damaged<'_>, known: &Areas) -> Result<Vec<Block>> {
    let mut found = Vec::new();
    for gap in known.gaps() {
        let mut at = gap.start;
        while let Some(start) = next_start(file, at..gap.end)?
            && found.len() < MOST_BLOCKS
        {
            let block = read(file, start..gap.end)?;
            at = (start + 1).max(start + (block.slots.len() * ENTRY_SIZE) as u64);
            found.push(block);
        }
    }
    Ok(found)
}

/// Where several entries in order start.
fn next_start(file: &Damaged<'_>, gap: Range<u64>) -> Result<Option<u64>> {
    let wanted = (ENOUGH * ENTRY_SIZE) as u64;
    let mut at = gap.start;
    let mut bytes = Vec::new();
    while at + wanted <= gap.end {
        bytes.resize((WINDOW + wanted).min(gap.end - at) as usize, 0);
        file.source.read_at(at, &mut bytes)?;
        let found = bytes.windows(wanted as usize).position(|bytes| is_run(file, bytes));
        if let Some(found) = found {
            return Ok(Some(at + found as u64));
        }
        at += bytes.len() as u64 - wanted + 1;
    }
    Ok(None)
}

fn is_run(file: &Damaged<'_>, bytes: &[u8]) -> bool {
    let entries = bytes.chunks_exact(ENTRY_SIZE);
    // Type and flags: most bytes are not valid ones.
    if entries.clone().any(|entry| !(1..=11).contains(&entry[30]) || entry[31] != 0) {
        return false;
    }
    let entries: Vec<_> = entries.map(RawEntry::decode).collect();
    entries.iter().all(|raw| file.is_possible(raw) && file.is_inside(raw))
        && entries.windows(2).all(|pair| follows(file, &pair[0], &pair[1]))
}

/// Whether one entry may come after another, possibly with lost ones between them.
fn follows(file: &Damaged<'_>, last: &RawEntry, next: &RawEntry) -> bool {
    let (before, after) = (file.key(last), file.key(next));
    before <= after && after.0 - before.0 <= 1_000_000 && last.encode() != next.encode()
}

/// The block that starts here, as far as it can be determined: it ends where the first data after it start.
pub(super) fn read(file: &Damaged<'_>, inside: Range<u64>) -> Result<Block> {
    let mut last: Option<RawEntry> = None;
    let (mut slots, mut lost, mut end) = (0, 0, inside.end);
    let mut bytes = [0; ENTRY_SIZE];
    while lost <= MOST_LOST {
        let at = inside.start + (slots + lost) * ENTRY_SIZE as u64;
        if at + ENTRY_SIZE as u64 > end {
            break;
        }
        file.source.read_at(at, &mut bytes)?;
        let raw = RawEntry::decode(&bytes);
        lost += 1;
        if file.is_possible(&raw)
            && file.is_inside(&raw)
            && last.is_none_or(|last| follows(file, &last, &raw))
        {
            last = Some(raw);
            slots += lost;
            lost = 0;
            if raw.location > inside.start {
                end = end.min(raw.location);
            }
        }
    }
    let room = slots.next_power_of_two().max(128);
    Ok(Block { room, ..Block::read(file, inside.start, slots)? })
}
