//! Infers lost entries from the frames around them.
//!
//! The lost slots determine the number of entries, and the intact frames around them the number of frames and bytes.
//! If exactly one sequence of frames that look like others in the file fits, to the byte and to the entry, it is what
//! was there.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::template::Looks;
use crate::entry::RawEntry;

/// How many partial sequences are tried before the result counts as ambiguous.
const MOST_WAYS: usize = 2_000_000;
/// Frames of one sequence.
const MOST_FRAMES: u64 = 1 << 20;

type Slots = [Option<RawEntry>];

/// Fills slots, and returns the frames they belong to. `blocks` are the ranges between data that are not data.
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

/// The next range of empty slots, including the frames next to it: what has to be inferred together.
fn next_hole(slots: &Slots, from: usize) -> Option<Range<usize>> {
    let start = from + slots[from..].iter().position(Option::is_none)?;
    let end = slots[start..].iter().position(Option::is_some).map_or(slots.len(), |n| start + n);
    let (mut low, mut high) = (start, end);
    // A frame next to a hole may be next to another one, too.
    while low > 0 && same_frame(slots, low - 1, low) {
        low -= 1;
    }
    while high < slots.len() && same_frame(slots, high - 1, high) {
        high += 1;
    }
    Some(low..high)
}

/// Whether two slots may belong to the same frame.
fn same_frame(slots: &Slots, one: usize, next: usize) -> bool {
    match (slots[one], slots[next]) {
        (Some(one), Some(next)) => one.frame == next.frame,
        _ => true,
    }
}

/// The frames to infer.
struct Lost<'a> {
    slots: &'a Slots,
    range: Range<usize>,
    frames: std::ops::RangeInclusive<u64>,
    /// Where their data start, and where those of the next frame do.
    start: u64,
    end: Option<u64>,
    looks: &'a Looks,
    blocks: &'a [Range<u64>],
}

/// Where the next frame starts: its data, and its slot.
type Place = (u64, usize);

/// How a place was reached: the number of ways, up to two, and the previous place and frame template.
type Ways = HashMap<Place, (u8, Place, Option<usize>)>;

impl<'a> Lost<'a> {
    fn new(
        slots: &'a Slots,
        range: &Range<usize>,
        looks: &'a Looks,
        blocks: &'a [Range<u64>],
    ) -> Option<Self> {
        // The number of entries after the last one is not known.
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
        // Other frames do not tell what frame 0 looks like.
        let count = frames.end() - frames.start() + 1;
        let possible = *frames.start() > 0 && count <= MOST_FRAMES && looks.cover(count);
        possible.then_some(Self { slots, range: range.clone(), frames, start, end, looks, blocks })
    }

    /// The entries of all slots, if they are unambiguous.
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

    /// Where the next frame starts, if this one can have that template here.
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
                .all(|(known, expected)| known.is_none_or(|k| k == expected));
        fits.then(|| (self.past_blocks(end), next))
    }

    /// The first byte from here on that can be data.
    fn past_blocks(&self, mut at: u64) -> u64 {
        while let Some(block) = self.blocks.iter().find(|block| block.contains(&at)) {
            at = block.end;
        }
        at
    }

    /// The entries of the only sequence with the required end.
    fn only_way(&self, steps: &[Ways]) -> Option<Vec<(usize, RawEntry)>> {
        let ends = |place: &Place| {
            place.1 == self.range.end && self.end.is_none_or(|end| place.0 == self.past_blocks(end))
        };
        let mut last = steps.last()?.iter().filter(|(place, _)| ends(place));
        let (&(mut place), (1, ..)) = last.next()? else { return None };
        if last.next().is_some() {
            return None;
        }
        let mut entries = Vec::new();
        for (frame, ways) in self.frames.clone().rev().zip(steps.iter().rev()) {
            let (_, before, look) = ways[&place];
            if let Some(template) = look.map(|look| &self.looks.templates[look]) {
                entries.extend((before.1..).zip(template.entries(frame, before.0)));
            }
            place = before;
        }
        Some(entries)
    }
}
