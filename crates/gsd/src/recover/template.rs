//! The structure of the frames of a file: the order of their chunks, and the layout of their data.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::entry::RawEntry;

/// The longest period considered, of a quantity that is written every so many frames.
const LONGEST_PERIOD: u64 = 64;

/// The chunks of a frame in index order, as if it were frame 0 with its data at 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    chunks: Vec<RawEntry>,
    /// Size of its data in bytes, which are contiguous.
    pub(super) size: u64,
}

impl Template {
    /// The template of a frame, if its data are contiguous.
    fn of(entries: &[RawEntry]) -> Option<Self> {
        let start = entries.iter().map(|raw| raw.location).min()?;
        let end = entries.iter().filter_map(RawEntry::end).max()?;
        let sizes: u64 = entries.iter().filter_map(RawEntry::area).map(|a| a.end - a.start).sum();
        let moved = |raw: &RawEntry| RawEntry { frame: 0, location: raw.location - start, ..*raw };
        let chunks = entries.iter().map(moved).collect();
        (sizes == end - start).then_some(Self { chunks, size: end - start })
    }

    /// The entries of a frame with this template, with its data at `at`.
    pub(super) fn entries(&self, frame: u64, at: u64) -> impl Iterator<Item = RawEntry> {
        self.chunks.iter().map(move |raw| RawEntry { frame, location: raw.location + at, ..*raw })
    }

    pub(super) fn len(&self) -> usize {
        self.chunks.len()
    }
}

/// The intact frames of a file, grouped by template.
#[derive(Clone, Debug, Default)]
pub(super) struct Looks {
    pub(super) templates: Vec<Template>,
    /// How many frames except frame 0 have each template, and which.
    counts: Vec<u64>,
    frames: BTreeMap<u64, usize>,
    /// Whether there are frames without chunks.
    pub(super) has_empty: bool,
}

impl Looks {
    /// Those of the frames in these slots that are not next to a hole.
    pub(super) fn of(slots: &[Option<RawEntry>]) -> Self {
        let mut looks = Self::default();
        let mut last = None;
        for range in frames(slots) {
            let lost = |i: usize| slots.get(i).is_some_and(Option::is_none);
            let beside_hole = range.start.checked_sub(1).is_some_and(lost) || lost(range.end);
            let entries: Vec<_> = slots[range.clone()].iter().flatten().copied().collect();
            let frame = entries[0].frame;
            if !beside_hole && frame > 0 {
                looks.has_empty |= last.is_some_and(|last: u64| last + 1 < frame);
                looks.add(frame, &entries);
            }
            last = (!lost(range.end)).then_some(frame);
        }
        looks
    }

    fn add(&mut self, frame: u64, entries: &[RawEntry]) {
        let Some(template) = Template::of(entries) else { return };
        let known = self.templates.iter().position(|known| *known == template);
        let number = known.unwrap_or(self.templates.len());
        if known.is_none() {
            self.templates.push(template);
            self.counts.push(0);
        }
        self.counts[number] += 1;
        self.frames.insert(frame, number);
    }

    /// Whether this many lost frames are unlikely to include one without a known template: few frames of the file are
    /// the only ones of their kind.
    pub(super) fn cover(&self, lost: u64) -> bool {
        let alone = self.counts.iter().filter(|count| **count == 1).count() as u64;
        let seen = self.frames.len() as u64;
        seen >= 2 && lost.saturating_mul(alone).saturating_mul(20) <= seen
    }

    /// The templates of a repeating sequence of frames, if there is one throughout the file: indexed by the number of
    /// the frame modulo the length.
    pub(super) fn period(&self) -> Option<Vec<usize>> {
        (1..=LONGEST_PERIOD).find_map(|period| self.with_period(period))
    }

    fn with_period(&self, period: u64) -> Option<Vec<usize>> {
        let mut looks: Vec<Option<(usize, u64)>> = vec![None; period as usize];
        for (frame, template) in &self.frames {
            let place = &mut looks[(frame % period) as usize];
            match place {
                Some((other, _)) if *other != *template => return None,
                Some((_, seen)) => *seen += 1,
                None => *place = Some((*template, 1)),
            }
        }
        looks.into_iter().map(|look| look.filter(|(_, seen)| *seen > 1).map(|(t, _)| t)).collect()
    }
}

/// The ranges of consecutive slots of each frame.
pub(super) fn frames(slots: &[Option<RawEntry>]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += slots[at..].iter().position(Option::is_some)?;
        let start = at;
        let frame = slots[start].map(|raw| raw.frame);
        let same = slots[start..].iter().take_while(|slot| slot.map(|raw| raw.frame) == frame);
        at += same.count();
        Some(start..at)
    })
}
