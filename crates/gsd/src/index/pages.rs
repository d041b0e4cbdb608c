//! A bounded cache of pages.
//!
//! Invariants: no more pages are kept than was said at first, however many there are; and nothing
//! is locked while a page is read, so a slow source delays only those who wait for that page.
//!
//! Each page has one set in which it may be kept, and a full set gives up the page that was used
//! longest ago. Of as many pages in a row as there are sets, each has a set of its own, so pages
//! that fit are all kept; and those of a bisection, which are powers of two apart, do not meet.

#[cfg(test)]
mod tests;

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Pages of one set.
const WAYS: usize = 4;

/// The pages that were read and may be asked for again.
#[derive(Debug)]
pub(crate) struct Pages {
    /// As many as some power of two.
    sets: Box<[Mutex<Set>]>,
}

/// Pages that are kept, the one used last first.
type Set = Vec<Page>;

#[derive(Debug, Default)]
struct Page {
    number: u64,
    bytes: Vec<u8>,
}

impl Pages {
    /// A cache for `pages` pages, of which it keeps up to `limit`, or one set if that is less.
    pub(crate) fn new(pages: u64, limit: u64) -> Self {
        let most = 1 << (limit / WAYS as u64).max(1).ilog2();
        let sets: u64 = pages.div_ceil(WAYS as u64).next_power_of_two().min(most);
        Self { sets: (0..sets).map(|_| Mutex::default()).collect() }
    }

    /// What `take` makes of a page, which `read` reads if it is not kept.
    ///
    /// # Errors
    /// Those of `read`.
    pub(crate) fn with<T>(
        &self,
        number: u64,
        take: impl FnOnce(&[u8]) -> T,
        read: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<T> {
        let mut set = self.set(number);
        if let Some(i) = set.iter().position(|page| page.number == number) {
            set[..=i].rotate_right(1);
            return Ok(take(&set[0].bytes));
        }
        let oldest = if set.len() == WAYS { set.pop() } else { None };
        drop(set);
        let mut page = Page { number, ..oldest.unwrap_or_default() };
        read(&mut page.bytes)?;
        let taken = take(&page.bytes);
        self.keep(page);
        Ok(taken)
    }

    /// Caches a page, unless another thread has done so meanwhile.
    fn keep(&self, page: Page) {
        let mut set = self.set(page.number);
        if set.iter().all(|kept| kept.number != page.number) {
            set.truncate(WAYS - 1);
            set.insert(0, page);
        }
    }

    fn set(&self, number: u64) -> MutexGuard<'_, Set> {
        let sets = self.sets.len() as u64;
        let set = (number + (number >> sets.trailing_zeros())) & (sets - 1);
        self.sets[set as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }
}
