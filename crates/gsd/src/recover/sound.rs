//! Decides which frames can be trusted.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::areas::Areas;
use super::block::Block;
use super::names::FoundNames;
use super::template::frames;
use super::{Damaged, FoundIndex, rebuild};
use crate::entry::{ENTRY_SIZE, Entry, Limits, RawEntry};
use crate::error::Result;
use crate::header::HEADER_SIZE;

/// If this many frames look alike, another one like them is taken to be complete.
const MANY: usize = 12;

/// The frames to recover, and those that cannot be.
#[derive(Debug, Default)]
pub(super) struct FoundFrames {
    /// Chunks by frame.
    pub(super) saved: BTreeMap<u64, Vec<Entry>>,
    pub(super) lost: BTreeSet<u64>,
    pub(super) rebuilt: BTreeSet<u64>,
    pub(super) bad_entries: u64,
    pub(super) cut: bool,
    pub(super) unclaimed: u64,
}

pub(super) fn settle(
    file: &Damaged<'_>,
    index: FoundIndex,
    names: &FoundNames,
) -> Result<FoundFrames> {
    let FoundIndex { mut blocks, bad } = index;
    let mut found = FoundFrames { bad_entries: bad, ..FoundFrames::default() };
    found.cut =
        blocks[0].claimed && (blocks[0].area().end > file.size || has_lost_its_end(&blocks[0]));
    let mut between: Vec<Range<u64>> = blocks.iter().map(Block::area).collect();
    let cut_short = blocks[0].used().end + ENTRY_SIZE as u64 > file.size;
    let mut slots = std::mem::take(&mut blocks[0].slots);
    if cut_short {
        // The file ends within the index: there may have been more entries.
        slots.push(None);
    }
    between.push(names.location..names.end);
    let named: BTreeSet<u64> = slots.iter().flatten().map(|raw| raw.frame).collect();
    let dropped = drop_impossible(file, &mut slots, names, &between);
    found.bad_entries += dropped.len() as u64;
    found.rebuilt = rebuild::fill(&mut slots, &between);
    found.unclaimed = unclaimed(file, &slots, &between)?;
    let is_damaged = file.header.damaged || found.bad_entries > 0 || !names.is_whole();
    let tail = Tail { unclaimed: found.unclaimed > 0, is_damaged };
    found.lost = lost(&slots, &named, &tail);
    let limits = Limits { file: file.size, frames: u64::MAX, names: names.len() as u64 };
    for raw in
        slots.iter().flatten().filter(|raw| raw.frame == 0 || !found.lost.contains(&raw.frame))
    {
        if let Ok(entry) = raw.check(&limits) {
            found.saved.entry(raw.frame).or_default().push(entry);
        }
    }
    found.rebuilt.retain(|frame| !found.lost.contains(frame));
    Ok(found)
}

/// Whether entries are missing at the end of an index: when an index moves, it is allocated at most twice the slots
/// that it needs.
fn has_lost_its_end(block: &Block) -> bool {
    let frames = block.entries().last().map_or(0, |(_, last)| last.frame + 1);
    let needed = frames.max(block.slots.len() as u64);
    let moved = block.start != HEADER_SIZE as u64 && block.room.is_power_of_two();
    moved && needed < (block.room / 2).max(129)
}

/// Clears the slots of entries without a name, outside the file, or overlapping each other.
fn drop_impossible(
    file: &Damaged<'_>,
    slots: &mut [Option<RawEntry>],
    names: &FoundNames,
    between: &[Range<u64>],
) -> Vec<RawEntry> {
    let mut dropped = Vec::new();
    let wrong = overlapping(slots, between);
    for (i, slot) in slots.iter_mut().enumerate() {
        let sound = |raw: &RawEntry| {
            usize::from(raw.id) < names.len() && file.is_inside(raw) && !wrong.contains(&i)
        };
        if let Some(raw) = slot.take_if(|raw| !sound(raw)) {
            dropped.push(raw);
        }
    }
    dropped
}

/// The slots of entries whose data overlap those of others. If one entry overlaps several, that one is wrong.
fn overlapping(slots: &[Option<RawEntry>], between: &[Range<u64>]) -> BTreeSet<usize> {
    let entries = slots.iter().enumerate();
    let data = entries.filter_map(|(i, slot)| Some((slot.as_ref()?.area()?, Some(i))));
    let blocks = between.iter().map(|block| (block.clone(), None));
    let mut areas: Vec<_> = data.chain(blocks).filter(|(area, _)| !area.is_empty()).collect();
    areas.sort_unstable_by_key(|(area, _)| (area.start, area.end));
    let mut wrong = BTreeSet::new();
    // The last area not known to be wrong.
    let mut last: Option<usize> = None;
    for next in 0..areas.len() {
        let Some(before) = last.filter(|&last| areas[last].0.end > areas[next].0.start) else {
            last = Some(next);
            continue;
        };
        let reaches = |i: usize| areas[i].0.end;
        let follower = areas.get(next + 1).map(|(area, _)| area.start);
        let fits = |i: usize| areas[i].1.is_none() || Some(reaches(i)) == follower;
        match (fits(before), fits(next)) {
            (true, false) => wrong.extend(areas[next].1),
            (false, true) => {
                wrong.extend(areas[before].1);
                last = Some(next);
            }
            _ => {
                wrong.extend(areas[before].1);
                wrong.extend(areas[next].1);
                // The next area is compared with the one that ends first.
                last = if reaches(before) < reaches(next) { Some(before) } else { Some(next) };
            }
        }
    }
    wrong
}

/// What is known about the bytes after the last frame.
struct Tail {
    /// Whether there are bytes that may be chunks of it.
    unclaimed: bool,
    /// Whether entries are likely to be lost, because other things are.
    is_damaged: bool,
}

/// Frames that have lost a chunk, or may have.
fn lost(slots: &[Option<RawEntry>], named: &BTreeSet<u64>, tail: &Tail) -> BTreeSet<u64> {
    let mut lost = BTreeSet::new();
    let ranges: Vec<_> = frames(slots).collect();
    let frame = |range: &Range<usize>| slots[range.start].map_or(0, |raw| raw.frame);
    let mut beside: BTreeSet<usize> = BTreeSet::new();
    let (mut next_frame, mut end) = (0, 0);
    for (i, range) in ranges.iter().enumerate() {
        let hole = (range.start - end) as u64;
        if hole > 0 {
            lost.extend(next_frame..frame(range));
            // If each frame in between accounts for one of them, none belongs to the adjacent frames.
            if hole > frame(range).saturating_sub(next_frame) || i == 0 {
                beside.extend([i.saturating_sub(1), i]);
            }
        }
        (next_frame, end) = (frame(range) + 1, range.end);
    }
    if end < slots.len() {
        beside.extend(ranges.len().checked_sub(1));
    }
    lost.extend(named.range(next_frame..));
    let is_damaged = tail.is_damaged || !lost.is_empty();
    let is_odd = is_damaged && !is_well_known(slots, &ranges);
    let is_cut = is_cut(slots, &ranges);
    if is_odd && (tail.unclaimed || is_cut) || tail.unclaimed && is_cut {
        lost.extend(ranges.last().map(frame));
    }
    let sound = ranges.iter().enumerate().filter(|(i, _)| !beside.contains(i));
    let whole = usual_names(slots, sound.map(|(_, range)| range));
    for range in beside.iter().map(|&i| &ranges[i]) {
        let has: BTreeSet<u16> = slots[range.clone()].iter().flatten().map(|raw| raw.id).collect();
        if frame(range) == 0 || whole.is_empty() || !whole.is_subset(&has) {
            lost.insert(frame(range));
        }
    }
    // A frame is contiguous, unless there is a hole in it.
    let pieces = ranges.windows(2).filter(|pair| frame(&pair[0]) == frame(&pair[1]));
    lost.extend(pieces.map(|pair| frame(&pair[0])));
    lost
}

/// All names that occur in these frames, except frame 0.
fn usual_names<'a>(
    slots: &[Option<RawEntry>],
    sound: impl Iterator<Item = &'a Range<usize>>,
) -> BTreeSet<u16> {
    let entries = sound.flat_map(|range| slots[range.clone()].iter().flatten());
    entries.filter(|raw| raw.frame > 0).map(|raw| raw.id).collect()
}

/// Whether the last frame has just the first few chunks of another frame.
fn is_cut(slots: &[Option<RawEntry>], ranges: &[Range<usize>]) -> bool {
    let Some((last, others)) = ranges.split_last() else { return false };
    let ids = |range: &Range<usize>| slots[range.clone()].iter().flatten().map(|raw| raw.id);
    let length = last.len();
    let first =
        |range: &&Range<usize>| range.len() > length && ids(range).take(length).eq(ids(last));
    others.iter().any(|range| first(&range))
}

/// Whether the last frame has the same names as many others.
fn is_well_known(slots: &[Option<RawEntry>], ranges: &[Range<usize>]) -> bool {
    let Some((last, others)) = ranges.split_last() else { return false };
    let ids = |range: &Range<usize>| slots[range.clone()].iter().flatten().map(|raw| raw.id);
    others.iter().filter(|range| ids(range).eq(ids(last))).count() >= MANY
}

/// Bytes after the last chunk that are not zero and not accounted for.
fn unclaimed(
    file: &Damaged<'_>,
    slots: &[Option<RawEntry>],
    between: &[Range<u64>],
) -> Result<u64> {
    let data = || slots.iter().flatten().filter_map(RawEntry::area);
    let end = data().map(|area| area.end).max().unwrap_or(HEADER_SIZE as u64);
    let owned =
        Areas::new(data().chain(between.iter().cloned()).chain(std::iter::once(0..end)), file.size);
    let mut bytes = 0;
    for gap in owned.gaps() {
        bytes += something(file, gap)?;
    }
    Ok(bytes)
}

/// Bytes from the first non-zero one to the last.
fn something(file: &Damaged<'_>, range: Range<u64>) -> Result<u64> {
    let mut found: Option<Range<u64>> = None;
    let mut bytes = Vec::new();
    for at in range.clone().step_by(1 << 16) {
        bytes.resize((range.end - at).min(1 << 16) as usize, 0);
        file.source.read_at(at, &mut bytes)?;
        let first = bytes.iter().position(|&byte| byte != 0);
        let last = bytes.iter().rposition(|&byte| byte != 0);
        if let (Some(first), Some(last)) = (first, last) {
            let start = found.map_or(at + first as u64, |found| found.start);
            found = Some(start..at + last as u64 + 1);
        }
    }
    Ok(found.map_or(0, |found| found.end - found.start))
}
