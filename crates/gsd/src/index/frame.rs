//! Looks up chunks by frame in an index of which only the frames are known to be sorted.

use std::sync::atomic::Ordering;

use super::{Index, PAGE, bad_entry, entry};
use crate::entry::RawEntry;
use crate::error::Result;
use crate::source::Source;

/// Maximum entries per frame: each is of a different chunk, and a file cannot have more names.
const MOST: u64 = 1 << 16;

impl Index {
    /// The chunk with this key in an index sorted by frame alone: the last one written.
    pub(crate) fn find_in_frame(
        &self,
        source: &dyn Source,
        (frame, id): (u64, u16),
    ) -> Result<Option<u64>> {
        let mut last = None;
        self.visit_frame(source, frame, |i, entry| {
            if entry.id == id {
                last = Some(i);
            }
        })?;
        Ok(last)
    }

    /// The entries of one frame, each with its position.
    pub(crate) fn frame(&self, source: &dyn Source, frame: u64) -> Result<Vec<(u64, RawEntry)>> {
        let mut entries = Vec::new();
        self.visit_frame(source, frame, |i, entry| entries.push((i, entry)))?;
        Ok(entries)
    }

    /// Visits the entries of one frame, in order.
    fn visit_frame(
        &self,
        source: &dyn Source,
        frame: u64,
        mut visit: impl FnMut(u64, RawEntry),
    ) -> Result<()> {
        let next = self.next.load(Ordering::Relaxed);
        for guess in [next, self.share(frame)] {
            if self.visit_from(source, (guess, frame), &mut visit)? {
                return Ok(());
            }
        }
        let start = self.frame_start(source, frame)?;
        self.visit_from(source, (start, frame), &mut visit).map(drop)
    }

    /// The same, if the frame starts at `start`; returns whether it does.
    fn visit_from(
        &self,
        source: &dyn Source,
        (start, frame): (u64, u64),
        visit: &mut impl FnMut(u64, RawEntry),
    ) -> Result<bool> {
        let mut end = start;
        self.walk(source, start.saturating_sub(1), |i, entry| {
            if i < start {
                return entry.frame < frame;
            }
            let wanted = entry.frame == frame && end - start <= MOST;
            if wanted {
                visit(i, entry);
                end = i + 1;
            }
            wanted
        })?;
        if end - start > MOST {
            return Err(bad_entry(
                self.location,
                end,
                "its frame has more chunks than there are names",
            ));
        }
        if end > start {
            self.next.store(end, Ordering::Relaxed);
        }
        Ok(end > start)
    }

    /// Visits the entries starting at `start`, until `visit` stops.
    fn walk(
        &self,
        source: &dyn Source,
        start: u64,
        mut visit: impl FnMut(u64, RawEntry) -> bool,
    ) -> Result<()> {
        let mut at = start;
        while at < self.used {
            let number = at / PAGE;
            let end = self.used.min((number + 1) * PAGE);
            if !self.page(source, number, |page| (at..end).all(|i| visit(i, entry(page, i))))? {
                break;
            }
            at = end;
        }
        Ok(())
    }

    /// Where a frame starts, or would if it had chunks.
    fn frame_start(&self, source: &dyn Source, frame: u64) -> Result<u64> {
        let (mut low, mut high) = self.bracket(source, frame)?;
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(source, middle)?.frame < frame {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Where a frame starts if all frames have the same number of chunks, as in most trajectories.
    fn share(&self, frame: u64) -> u64 {
        let last = self.last_frame;
        let share = u128::from(frame.min(last)) * u128::from(self.used) / (u128::from(last) + 1);
        share as u64
    }

    /// Positions between which a frame must start, found by doubling steps away from its share.
    fn bracket(&self, source: &dyn Source, frame: u64) -> Result<(u64, u64)> {
        let share = self.share(frame);
        let (mut low, mut high) = (share, share);
        let mut step = 4;
        if low < self.used && self.get(source, low)?.frame < frame {
            while high < self.used && self.get(source, high)?.frame < frame {
                low = high + 1;
                high = high.saturating_add(step).min(self.used);
                step *= 2;
            }
        } else {
            while low > 0 && self.get(source, low)?.frame >= frame {
                high = low;
                low = low.saturating_sub(step);
                step *= 2;
            }
        }
        Ok((low, high))
    }
}
