//! A bounded cache of pages.
//!
//! Invariants: no more pages are cached than the limit set at creation, however many there are; and no lock is held
//! while a page is read, so a slow source delays only those who wait for that page.
//!
//! Each page has one set in which it may be cached, and a full set evicts its least recently used page. Consecutive
//! pages are in different sets, up to the number of sets, so pages that fit are all cached; and those of a bisection,
//! which are powers of two apart, do not collide.

#[cfg(test)]
mod tests;

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Pages per set.
const WAYS: usize = 4;

/// The pages that were read and may be needed again.
#[derive(Debug)]
pub(crate) struct Pages {
    /// Their number is a power of two.
    sets: Box<[Mutex<Set>]>,
}

/// Cached pages, the most recently used first.
type Set = Vec<Page>;

#[derive(Debug, Default)]
struct Page {
    number: u64,
    bytes: Vec<u8>,
}

impl Pages {
    /// A cache for `pages` pages, which holds up to `limit`, or one set if that is less.
    pub(crate) fn new(pages: u64, limit: u64) -> Self {
        let most = 1 << (limit / WAYS as u64).max(1).ilog2();
        let sets: u64 = pages.div_ceil(WAYS as u64).next_power_of_two().min(most);
        Self { sets: (0..sets).map(|_| Mutex::default()).collect() }
    }

    /// Applies `take` to a page, which `read` reads if it is not cached.
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
