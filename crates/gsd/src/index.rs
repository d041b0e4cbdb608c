//! The index block, read on demand in pages.
//!
//! A long trajectory has an index of many megabytes, so nothing reads it whole: opening probes
//! it for its end, and a look-up reads the pages that its search touches. A page, once read, is
//! kept; entries in use never change, so a kept page is never wrong.

use std::cmp::Ordering as Order;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::entry::{ENTRY_SIZE, Limits, RawEntry};
use crate::error::{Error, Result};
use crate::source::Source;

/// Entries of one page: 4 KiB, so that a look-up at random reads little that it does not need.
const PAGE: u64 = 128;
/// Entries that are read at once when the end of the index is this near.
const WINDOW: u64 = 512;

/// The entries in use of an index block.
#[derive(Debug)]
pub(crate) struct Index {
    location: u64,
    used: u64,
    pages: Vec<OnceLock<Box<[u8]>>>,
    /// Where the frame after the last one looked up begins: readers mostly go forward.
    next: AtomicU64,
}

impl Index {
    /// Finds the end of the index as the reference does: by bisection for the first entry
    /// without a location, with every entry on the way checked.
    pub(crate) fn open(
        source: &dyn Source,
        location: u64,
        allocated: u64,
        limits: &Limits,
    ) -> Result<Self> {
        let mut search = Search { source, location, limits, window: 0..0, bytes: Vec::new() };
        let first = if allocated == 0 { None } else { search.probe(0)? };
        let Some(mut last) = first else {
            return Ok(Self::empty(location));
        };
        let (mut low, mut high) = (0, allocated);
        while high - low > 1 {
            search.narrow(low..high)?;
            let middle = low + (high - low) / 2;
            match search.probe(middle)? {
                Some(entry) if entry.frame < last.frame => {
                    let what = format!("frame {} after frame {}", entry.frame, last.frame);
                    return Err(bad_entry(location, middle, &what));
                }
                Some(entry) => (low, last) = (middle, entry),
                None => high = middle,
            }
        }
        Ok(Self::new(location, high))
    }

    /// An index block without entries.
    pub(crate) fn empty(location: u64) -> Self {
        Self { location, used: 0, pages: Vec::new(), next: AtomicU64::new(0) }
    }

    fn new(location: u64, used: u64) -> Self {
        let mut index = Self::empty(location);
        index.extended(used);
        index
    }

    pub(crate) fn len(&self) -> u64 {
        self.used
    }

    /// The block is now elsewhere, with the same entries.
    pub(crate) fn moved(&mut self, location: u64) {
        self.location = location;
    }

    /// `added` entries were written after the last.
    pub(crate) fn extended(&mut self, added: u64) {
        let full = (self.used / PAGE) as usize;
        self.pages.truncate(full);
        self.used += added;
        self.pages.resize_with(self.used.div_ceil(PAGE) as usize, OnceLock::new);
    }

    /// The entries were rewritten where they are.
    pub(crate) fn forget_pages(&mut self) {
        self.pages.iter_mut().for_each(|page| drop(page.take()));
    }

    /// The entry at position `i`, which must be below [`Index::len`].
    pub(crate) fn get(&self, source: &dyn Source, i: u64) -> Result<RawEntry> {
        let page = self.page(source, i / PAGE)?;
        let at = (i % PAGE) as usize * ENTRY_SIZE;
        Ok(RawEntry::decode(&page[at..at + ENTRY_SIZE]))
    }

    fn page(&self, source: &dyn Source, number: u64) -> Result<&[u8]> {
        let cell = &self.pages[number as usize];
        if let Some(page) = cell.get() {
            return Ok(page);
        }
        let first = number * PAGE;
        let entries = PAGE.min(self.used - first) as usize;
        let mut page = vec![0; entries * ENTRY_SIZE].into_boxed_slice();
        source.read_at(self.location + first * ENTRY_SIZE as u64, &mut page)?;
        Ok(cell.get_or_init(|| page))
    }

    /// The chunk with this key in a sorted (version 2) index, found by the reference's own
    /// bisection, so that of several with one key the same one is found.
    pub(crate) fn find_sorted(&self, source: &dyn Source, key: (u64, u16)) -> Result<Option<u64>> {
        let (mut low, mut high) = (0, self.used);
        while low < high {
            let middle = (low + high - 1) / 2;
            match self.get(source, middle)?.key().cmp(&key) {
                Order::Less => low = middle + 1,
                Order::Greater => high = middle,
                Order::Equal => return Ok(Some(middle)),
            }
        }
        Ok(None)
    }

    /// The chunk with this key in an index sorted by frame alone: the last one written.
    pub(crate) fn find_in_frame(
        &self,
        source: &dyn Source,
        key: (u64, u16),
    ) -> Result<Option<u64>> {
        let frame = self.frame(source, key.0)?;
        for i in frame.rev() {
            if self.get(source, i)?.id == key.1 {
                return Ok(Some(i));
            }
        }
        Ok(None)
    }

    /// The positions of the entries of one frame.
    pub(crate) fn frame(&self, source: &dyn Source, frame: u64) -> Result<Range<u64>> {
        let start = self.frame_start(source, frame)?;
        let mut end = start;
        while end < self.used && self.get(source, end)?.frame == frame {
            end += 1;
        }
        self.next.store(end, Ordering::Relaxed);
        Ok(start..end)
    }

    fn frame_start(&self, source: &dyn Source, frame: u64) -> Result<u64> {
        if self.used == 0 {
            return Ok(0);
        }
        let next = self.next.load(Ordering::Relaxed);
        if self.begins(source, next, frame)? {
            return Ok(next);
        }
        let share = self.share(source, frame)?;
        if self.begins(source, share, frame)? {
            return Ok(share);
        }
        let (mut low, mut high) = self.bracket(source, frame, share)?;
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

    /// Where a frame begins if all have as many chunks, as they do in most trajectories.
    fn share(&self, source: &dyn Source, frame: u64) -> Result<u64> {
        let last = self.get(source, self.used - 1)?.frame;
        let share = u128::from(frame.min(last)) * u128::from(self.used) / (u128::from(last) + 1);
        Ok(share as u64)
    }

    /// Positions between which a frame must begin, found from `guess` on by steps that double.
    fn bracket(&self, source: &dyn Source, frame: u64, guess: u64) -> Result<(u64, u64)> {
        let (mut low, mut high) = (guess, guess);
        let mut step = 4;
        if self.get(source, low)?.frame < frame {
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

    fn begins(&self, source: &dyn Source, i: u64, frame: u64) -> Result<bool> {
        if i == 0 || i >= self.used || self.get(source, i)?.frame != frame {
            return Ok(false);
        }
        Ok(self.get(source, i - 1)?.frame < frame)
    }
}

/// The search for the end of an index block.
struct Search<'a> {
    source: &'a dyn Source,
    location: u64,
    limits: &'a Limits,
    /// The entries in `bytes`.
    window: Range<u64>,
    bytes: Vec<u8>,
}

impl Search<'_> {
    /// Reads what is left to search by one request, once it is little.
    fn narrow(&mut self, left: Range<u64>) -> Result<()> {
        if left.end - left.start > WINDOW || !self.window.is_empty() {
            return Ok(());
        }
        self.bytes.resize((left.end - left.start) as usize * ENTRY_SIZE, 0);
        self.source.read_at(self.location + left.start * ENTRY_SIZE as u64, &mut self.bytes)?;
        self.window = left;
        Ok(())
    }

    /// The entry at `i`, which must be possible, or nothing where there is none.
    fn probe(&self, i: u64) -> Result<Option<RawEntry>> {
        let mut bytes = [0; ENTRY_SIZE];
        if self.window.contains(&i) {
            let at = (i - self.window.start) as usize * ENTRY_SIZE;
            bytes.copy_from_slice(&self.bytes[at..at + ENTRY_SIZE]);
        } else {
            self.source.read_at(self.location + i * ENTRY_SIZE as u64, &mut bytes)?;
        }
        let entry = RawEntry::decode(&bytes);
        if entry.location == 0 {
            return Ok(None);
        }
        entry.check(self.limits).map_err(|what| bad_entry(self.location, i, &what))?;
        Ok(Some(entry))
    }
}

pub(crate) fn bad_entry(location: u64, i: u64, what: &str) -> Error {
    let at = location.saturating_add(i.saturating_mul(ENTRY_SIZE as u64));
    Error::corrupt(at, format!("index entry {i}: {what}"))
}
