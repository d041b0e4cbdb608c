//! How many bytes all files together may have read ahead.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes that may be read ahead.
#[derive(Debug)]
pub(crate) struct Budget {
    total: u64,
    used: AtomicU64,
    /// How many shares there are, as a measure of how many files read.
    shares: AtomicU64,
}

/// Bytes that are taken from the budget until this is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Budget {
    pub(crate) fn new(total: u64) -> Arc<Self> {
        Arc::new(Self { total, used: AtomicU64::new(0), shares: AtomicU64::new(0) })
    }

    /// Takes bytes, if there are so many.
    pub(crate) fn take(self: &Arc<Self>, bytes: u64) -> Option<Share> {
        let fits = |used: u64| Some(used + bytes).filter(|used| *used <= self.total);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).ok()?;
        self.shares.fetch_add(1, Ordering::Relaxed);
        Some(Share { budget: Arc::clone(self), bytes })
    }

    /// How much is taken.
    pub(crate) fn share(&self) -> crate::Share {
        crate::Share { used: self.used.load(Ordering::Relaxed), limit: self.total }
    }

    /// What one file may take while others read, too.
    pub(crate) fn fair_share(&self) -> u64 {
        let shares = self.shares.load(Ordering::Relaxed);
        (self.total / (shares / 8 + 1)).max(1 << 20)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
        self.budget.shares.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_never_exceeded_and_released_on_drop() {
        let budget = Budget::new(10);
        let first = budget.take(7).unwrap();
        assert!(budget.take(4).is_none());
        let second = budget.take(3).unwrap();
        assert!(budget.take(1).is_none());
        drop((first, second));
        assert!(budget.take(10).is_some());
    }
}
