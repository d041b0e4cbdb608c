//! The index block, read on demand in pages.
//!
//! A long trajectory has an index of many megabytes, so it is never held as a whole: opening probes it for its end, a
//! look-up reads the pages that its search touches, some of which are cached, and iterating over all of it caches
//! nothing. Entries in use never change, so a cached page is never stale; a writer to the block creates a new
//! [`Index`].

mod all;
mod end;
mod frame;
mod pages;

use std::cmp::Ordering as Order;
use std::ops::Range;
use std::sync::atomic::AtomicU64;

use self::pages::Pages;
use crate::entry::{ENTRY_SIZE, RawEntry};
use crate::error::{Error, Result};
use crate::source::Source;

pub(crate) use self::all::AllEntries;

/// Entries of one page: 4 KiB, so that a random look-up reads little more than it needs.
const PAGE: u64 = 128;
/// Bytes of a page.
const PAGE_SIZE: u64 = PAGE * ENTRY_SIZE as u64;
/// Bytes of cached pages, as a multiple of [`Source::request_cost`]: 2 MiB for a file, 32 MiB for
/// [`crate::ReadAhead`].
const KEPT: u64 = 512;

/// The entries in use of an index block.
#[derive(Debug)]
pub(crate) struct Index {
    location: u64,
    used: u64,
    last_frame: u64,
    pages: Pages,
    /// Where the frame after the last one looked up starts, or past all entries: most access is sequential.
    next: AtomicU64,
}

impl Index {
    /// An index block without entries.
    pub(crate) fn empty(location: u64) -> Self {
        let (pages, next) = (Pages::new(0, 0), AtomicU64::new(u64::MAX));
        Self { location, used: 0, last_frame: 0, pages, next }
    }

    /// An index block of `used` entries, the last of which belongs to `last_frame`.
    pub(crate) fn new(source: &dyn Source, location: u64, used: u64, last_frame: u64) -> Self {
        let kept = source.request_cost().saturating_mul(KEPT) / PAGE_SIZE;
        let pages = Pages::new(used.div_ceil(PAGE), kept);
        Self { used, last_frame, pages, ..Self::empty(location) }
    }

    pub(crate) fn len(&self) -> u64 {
        self.used
    }

    /// The frame of the last entry, if there is one.
    pub(crate) fn last_frame(&self) -> Option<u64> {
        (self.used > 0).then_some(self.last_frame)
    }

    /// The entry at position `i`, which must be below [`Index::len`].
    pub(crate) fn get(&self, source: &dyn Source, i: u64) -> Result<RawEntry> {
        self.page(source, i / PAGE, |page| entry(page, i))
    }

    /// Applies `take` to a page.
    fn page<T>(
        &self,
        source: &dyn Source,
        number: u64,
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<T> {
        let read = |page: &mut Vec<u8>| {
            let first = number * PAGE;
            page.resize(PAGE.min(self.used - first) as usize * ENTRY_SIZE, 0);
            source.read_at(self.at(first), page)
        };
        Ok(self.pages.with(number, take, read)?)
    }

    /// The offset of an entry in the file.
    fn at(&self, i: u64) -> u64 {
        self.location + i * ENTRY_SIZE as u64
    }

    /// The chunk with this key in a sorted (version 2) index, found by the same bisection as the reference's, so that
    /// of several with one key the same one is found.
    pub(crate) fn find_sorted(&self, source: &dyn Source, key: (u64, u16)) -> Result<Option<u64>> {
        let mut left = 0..self.used;
        while !left.is_empty() {
            let number = middle(&left) / PAGE;
            let found = self.page(source, number, |page| bisect(page, number, &mut left, key))?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// Bisects the remaining range as long as the next entry to examine is in this page.
fn bisect(page: &[u8], number: u64, left: &mut Range<u64>, key: (u64, u16)) -> Option<u64> {
    while !left.is_empty() && middle(left) / PAGE == number {
        let middle = middle(left);
        match entry(page, middle).key().cmp(&key) {
            Order::Less => left.start = middle + 1,
            Order::Greater => left.end = middle,
            Order::Equal => return Some(middle),
        }
    }
    None
}

fn middle(range: &Range<u64>) -> u64 {
    (range.start + range.end - 1) / 2
}

/// The entry at position `i`, which is in this page.
fn entry(page: &[u8], i: u64) -> RawEntry {
    let at = (i % PAGE) as usize * ENTRY_SIZE;
    RawEntry::decode(&page[at..at + ENTRY_SIZE])
}

pub(crate) fn bad_entry(location: u64, i: u64, what: &str) -> Error {
    let at = location.saturating_add(i.saturating_mul(ENTRY_SIZE as u64));
    Error::corrupt(at, format!("index entry {i}: {what}"))
}
