//! How many bytes of drafts are held in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most bytes that one draft has in memory.
pub(super) const SMALL: u64 = 4 << 20;

/// The bytes that drafts may hold in memory, all together.
#[derive(Debug)]
pub(crate) struct Memory {
    total: u64,
    used: AtomicU64,
}

impl Memory {
    pub(crate) fn new(total: u64) -> Arc<Self> {
        Arc::new(Self { total, used: AtomicU64::new(0) })
    }

    /// How much of it is held.
    pub(crate) fn share(&self) -> crate::Share {
        crate::Share { used: self.used.load(Ordering::Relaxed), limit: self.total }
    }
}

/// The bytes in memory that are reserved for one draft.
#[derive(Debug)]
pub(super) struct Reservation {
    memory: Arc<Memory>,
    bytes: u64,
}

impl Reservation {
    pub(super) fn none(memory: &Arc<Memory>) -> Self {
        Self { memory: Arc::clone(memory), bytes: 0 }
    }

    /// Holds this many bytes instead, if that is not too much.
    pub(super) fn resize(&mut self, bytes: u64) -> bool {
        if bytes > SMALL {
            return false;
        }
        let (old, total) = (self.bytes, self.memory.total);
        let fits =
            |used: u64| Some(used - old + bytes).filter(|used| bytes <= old || *used <= total);
        let is_reserved =
            self.memory.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok();
        if is_reserved {
            self.bytes = bytes;
        }
        is_reserved
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.memory.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_share_the_memory() {
        let memory = Memory::new(10);
        let (mut one, mut two) = (Reservation::none(&memory), Reservation::none(&memory));
        assert!(one.resize(7) && two.resize(3) && !two.resize(4) && one.resize(6) && two.resize(4));
        drop(one);
        assert!(two.resize(10) && !two.resize(11));
        let mut large = Reservation::none(&Memory::new(SMALL * 2));
        assert!(large.resize(SMALL) && !large.resize(SMALL + 1));
    }
}
