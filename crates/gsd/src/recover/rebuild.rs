//! Entries that can be told from the frames around them.
//!
//! The slots that are lost say how many entries they had, the sound frames beside them how many
//! frames and bytes. If one sequence of frames that look like others of the file fits, to the byte
//! and to the entry, and no other does, it is what was there.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::template::Looks;
use crate::entry::RawEntry;

/// How many partial sequences are tried before the result counts as ambiguous.
const MOST_WAYS: usize = 2_000_000;
/// Frames of one sequence.
const MOST_FRAMES: u64 = 1 << 20;

type Slots = [Option<RawEntry>];

/// Fills slots; says in which frames. `blocks` are the bytes between data that are no data.
pub(super) fn fill(slots: &mut Slots, blocks: &[Range<u64>]) -> BTreeSet<u64> {
    let looks = Looks::of(slots);
    let mut rebuilt = BTreeSet::new();
    let mut at = 0;
    while let Some(hole) = next_hole(slots, at) {
        at = hole.end;
        let entries = Lost::new(slots, &hole, &looks, blocks).and_then(|lost| lost.solve());
        for (slot, entry) in entries.into_iter().flatten() {
            if slots[slot].is_none() {
                rebuilt.insert(entry.frame);
                slots[slot] = Some(entry);
            }
        }
    }
    rebuilt
}

/// The next slots without entries, and those of the frames beside them: what is to be told at once.
fn next_hole(slots: &Slots, from: usize) -> Option<Range<usize>> {
    let start = from + slots[from..].iter().position(Option::is_none)?;
    let end = slots[start..].iter().position(Option::is_some).map_or(slots.len(), |n| start + n);
    let (mut low, mut high) = (start, end);
    // A frame beside a hole may be beside another one, too.
    while low > 0 && same_frame(slots, low - 1, low) {
        low -= 1;
    }
    while high < slots.len() && same_frame(slots, high - 1, high) {
        high += 1;
    }
    Some(low..high)
}

/// Whether two slots may be of one frame.
fn same_frame(slots: &Slots, one: usize, next: usize) -> bool {
    match (slots[one], slots[next]) {
        (Some(one), Some(next)) => one.frame == next.frame,
        _ => true,
    }
}

/// Frames to be told.
struct Lost<'a> {
    slots: &'a Slots,
    range: Range<usize>,
    frames: std::ops::RangeInclusive<u64>,
    /// Where their data begin, and where those of the next frame do.
    start: u64,
    end: Option<u64>,
    looks: &'a Looks,
    blocks: &'a [Range<u64>],
}

/// Where the next frame begins: its data, and its slot.
type Place = (u64, usize);

/// How a place was reached: in how many ways, up to two, and by which frame from where.
type Ways = HashMap<Place, (u8, Place, Option<usize>)>;

impl<'a> Lost<'a> {
    fn new(
        slots: &'a Slots,
        range: &Range<usize>,
        looks: &'a Looks,
        blocks: &'a [Range<u64>],
    ) -> Option<Self> {
        // How many entries there were after the last one is not known.
        slots[..range.end].last().copied().flatten()?;
        let known = || slots[range.clone()].iter().flatten();
        let frames = known().next()?.frame..=known().next_back()?.frame;
        let before = slots[..range.start].last().copied().flatten()?;
        let previous = slots[..range.start].iter().rev().map_while(|slot| *slot);
        let previous = previous.take_while(|raw| raw.frame == before.frame);
        let start = previous.filter_map(|raw| raw.end()).max()?;
        let next = slots.get(range.end).copied().flatten();
        let after = slots[range.end..].iter().map_while(|slot| *slot);
        let after = after.take_while(|raw| next.is_some_and(|next| next.frame == raw.frame));
        let end = after.map(|raw| raw.location).min();
        // What frame 0 looks like, no other frame tells.
        let count = frames.end() - frames.start() + 1;
        let possible = *frames.start() > 0 && count <= MOST_FRAMES && looks.cover(count);
        possible.then_some(Self { slots, range: range.clone(), frames, start, end, looks, blocks })
    }

    /// The entries of all slots, if they can be told.
    fn solve(&self) -> Option<Vec<(usize, RawEntry)>> {
        let any: Vec<_> = (0..self.looks.templates.len()).map(Some).collect();
        let any_or_none: Vec<_> = any.iter().copied().chain([None]).collect();
        let all = if self.looks.has_empty { &any_or_none } else { &any };
        self.search(|_| all.clone()).or_else(|| {
            let period = self.looks.period().filter(|_| !self.looks.has_empty)?;
            self.search(|frame| vec![Some(period[(frame % period.len() as u64) as usize])])
        })
    }

    fn search(&self, looks: impl Fn(u64) -> Vec<Option<usize>>) -> Option<Vec<(usize, RawEntry)>> {
        let first = (self.past_blocks(self.start), self.range.start);
        let mut steps = vec![Ways::from([(first, (1, first, None))])];
        let mut all = 0;
        for frame in self.frames.clone() {
            let mut ways = Ways::new();
            for (place, (count, ..)) in steps.last()? {
                for look in looks(frame) {
                    let Some(next) = self.step(*place, frame, look) else { continue };
                    let way = ways.entry(next).or_insert((0, *place, look));
                    way.0 = (way.0 + count).min(2);
                }
            }
            all += ways.len();
            if all > MOST_WAYS {
                return None;
            }
            steps.push(ways);
        }
        self.only_way(&steps)
    }

    /// Where the frame after this one begins, if this one can look like that here.
    fn step(&self, (at, slot): Place, frame: u64, look: Option<usize>) -> Option<Place> {
        let Some(look) = look else { return Some((at, slot)) };
        let template = &self.looks.templates[look];
        let (end, next) = (at.checked_add(template.size)?, slot + template.len());
        let interrupted = self.blocks.iter().any(|block| block.start < end && at < block.end);
        let known = self.slots[slot..self.range.end.max(slot)].iter();
        let fits = !interrupted
            && next <= self.range.end
            && known
                .zip(template.entries(frame, at))
                .all(|(known, told)| known.is_none_or(|k| k == told));
        fits.then(|| (self.past_blocks(end), next))
    }

    /// The first byte from here on at which there can be data.
    fn past_blocks(&self, mut at: u64) -> u64 {
        while let Some(block) = self.blocks.iter().find(|block| block.contains(&at)) {
            at = block.end;
        }
        at
    }

    /// The entries of the one sequence that ends where it must.
    fn only_way(&self, steps: &[Ways]) -> Option<Vec<(usize, RawEntry)>> {
        let ends = |place: &Place| {
            place.1 == self.range.end && self.end.is_none_or(|end| place.0 == self.past_blocks(end))
        };
        let mut last = steps.last()?.iter().filter(|(place, _)| ends(place));
        let (&(mut place), (1, ..)) = last.next()? else { return None };
        if last.next().is_some() {
            return None;
        }
        let mut told = Vec::new();
        for (frame, ways) in self.frames.clone().rev().zip(steps.iter().rev()) {
            let (_, before, look) = ways[&place];
            if let Some(template) = look.map(|look| &self.looks.templates[look]) {
                told.extend((before.1..).zip(template.entries(frame, before.0)));
            }
            place = before;
        }
        Some(told)
    }
}
