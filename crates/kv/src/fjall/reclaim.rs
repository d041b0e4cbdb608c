//! Giving back the space of removed rows.
//!
//! The tree drops a removed row when its tombstone is merged down to the last level, which happens as further rows are
//! written. An emptied catalog would keep its size until then, so the whole tree is merged once a good part of its rows
//! has been removed: the amount written for that is proportional to the space that is freed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, TryLockError};
use std::time::Duration;

use fjall::{AbstractTree, AnyTree};

use super::space::For;
use super::{FjallEngine, Store, error, layout};
use crate::Result;

/// Trees smaller than this, in bytes, are left alone.
const SMALL: u64 = 8 << 20;

/// The tree writes no other merges while it is merged as a whole, so that many commits wait in the end: above this size of
/// its tables, in bytes, it has to be worth more.
const LARGE: u64 = 4 << 30;

/// A merge that rewrites value files has all of them open. With more than this it only deletes those without live
/// values.
const FILES: usize = 256;

/// Fewer removals than this are left to regular merges.
const FEW: u64 = 4_096;

/// How often to check whether rows in memory have been written to disk, and for how long.
const LOOK: Duration = Duration::from_millis(10);
const LOOKS: usize = 3_000;

/// What is known of removed rows.
#[derive(Debug, Default)]
pub(super) struct Removed {
    /// Rows removed since the last merge.
    rows: AtomicU64,
    pause: Mutex<Pause>,
}

/// After a merge that reclaimed little, since much was being read or removed in the meantime, this many checks are
/// skipped; twice as many each time.
#[derive(Debug, Default, Clone, Copy)]
struct Pause {
    left: u32,
    length: u32,
    /// Outstanding flushes, as merged files may still be in use when the merge ends.
    flushes: u32,
}

/// The memtable is flushed at this many checks after a merge.
const FLUSHES: u32 = 3;

/// The longest pause.
const LONGEST: u32 = 64;

impl Pause {
    /// Says whether it is over.
    fn is_over(&mut self) -> bool {
        let over = self.left == 0;
        self.left = self.left.saturating_sub(1);
        over
    }

    /// After a merge of this many bytes to so many.
    fn begin(&mut self, before: u64, after: u64) {
        let worked = after < before / 10 * 9;
        self.length = if worked { 0 } else { (2 * self.length).clamp(1, LONGEST) };
        self.left = self.length;
        self.flushes = FLUSHES;
    }
}

/// The approximate content of the tree.
#[derive(Debug, Clone, Copy)]
struct TreeStats {
    /// Rows, marks of removal among them.
    rows: u64,
    removed: u64,
    /// Bytes of tables, and of values that are kept apart.
    tables: u64,
    values: u64,
    /// Bytes of those values that nothing refers to and that a merge would give back.
    stale: u64,
}

impl Removed {
    pub(super) fn count(&self, rows: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }
}

impl TreeStats {
    /// Whether a merge would give back enough of it.
    fn is_worth_it(&self) -> bool {
        let enough = if self.tables > LARGE { 2 } else { 4 };
        let of_rows = self.removed >= FEW && self.removed * enough >= self.rows;
        self.bytes() >= SMALL && (of_rows || self.has_stale_values())
    }

    fn has_stale_values(&self) -> bool {
        self.stale >= SMALL && self.stale * 4 >= self.values
    }

    fn bytes(&self) -> u64 {
        self.tables + self.values
    }

    /// The approximate number of bytes that a merge writes before it reclaims any.
    fn cost(&self) -> u64 {
        // A merge drops a tombstone together with the row that it removes.
        let live = self.rows.saturating_sub(2 * self.removed);
        let tables = u128::from(self.tables) * u128::from(live) / u128::from(self.rows.max(1));
        u64::try_from(tables).unwrap_or(u64::MAX) + self.values.min(3 * self.stale)
    }
}

impl FjallEngine {
    /// Merges the tree if that is worth it and there is enough space; returns whether it did.
    pub(super) fn merge_removed(&self) -> Result<bool> {
        let mut pause = match self.removed.pause.try_lock() {
            Ok(pause) => pause,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Another thread is merging.
            Err(TryLockError::WouldBlock) => return Ok(false),
        };
        let counted = self.removed.rows.load(Ordering::Relaxed);
        let stats = self.store.stats(counted);
        let is_wanted = !self.is_latched() && stats.is_worth_it() && pause.is_over();
        if !is_wanted || !self.reserve.has_room(stats.cost(), For::Freeing) {
            if !self.is_latched() && pause.flushes > 0 {
                self.descriptors.look().map_err(super::io)?;
                pause.flushes -= 1;
                self.store.flush().map_err(error)?;
            }
            return Ok(false);
        }
        self.descriptors.look().map_err(super::io)?;
        self.store.merge().map_err(error)?;
        self.removed.rows.fetch_sub(counted, Ordering::Relaxed);
        pause.begin(stats.bytes(), self.store.stats(0).bytes());
        Ok(true)
    }
}

impl Store {
    fn stats(&self, counted: u64) -> TreeStats {
        let tree = &self.rows.tree;
        let all = tree.disk_space();
        let tables = match tree {
            AnyTree::Blob(tree) => tree.index.disk_space(),
            AnyTree::Standard(_) => all,
        };
        TreeStats {
            rows: tree.approximate_len() as u64,
            removed: tree.tombstone_count().max(counted),
            tables,
            values: all.saturating_sub(tables),
            stale: if tree.blob_file_count() <= FILES { tree.stale_blob_bytes() } else { 0 },
        }
    }

    fn merge(&self) -> fjall::Result<()> {
        self.flush()?;
        self.rows.major_compact()?;
        if self.stats(0).has_stale_values() {
            // Only now is it known which values are unreferenced.
            self.rows.major_compact()?;
        }
        // Merged files are deleted once no version of the tree refers to them: each flush deletes those older than the
        // previous flush.
        self.flush()?;
        self.flush()
    }

    /// Flushes the memtable to tables; also advances the version before which there are no readers.
    #[expect(
        clippy::disallowed_methods,
        reason = "waits for a thread of the engine; no record has this time"
    )]
    pub(super) fn flush(&self) -> fjall::Result<()> {
        // An empty memtable would not be flushed.
        self.rows.insert(layout::MERGED, [])?;
        self.rows.rotate_memtable()?;
        for _ in 0..LOOKS {
            if self.rows.tree.sealed_memtable_count() == 0 {
                break;
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn stats(rows: u64, removed: u64) -> TreeStats {
        TreeStats { rows, removed, tables: 100 * MIB, values: 0, stale: 0 }
    }

    #[test]
    fn the_cost_of_a_merge_is_proportional_to_the_space_reclaimed() {
        assert!(!stats(1_000_000, 200_000).is_worth_it());
        assert!(stats(1_000_000, 250_000).is_worth_it());
        assert!(!stats(4_000, 4_000).is_worth_it(), "too few");
        let large = TreeStats { tables: LARGE + 1, ..stats(1_000_000, 250_000) };
        assert!(!large.is_worth_it());
        let small = TreeStats { tables: MIB, ..stats(1_000_000, 900_000) };
        assert!(!small.is_worth_it());
        let apart = TreeStats { values: 100 * MIB, stale: 25 * MIB, ..stats(1_000_000, 0) };
        assert!(apart.is_worth_it());
    }

    #[test]
    fn merges_that_reclaim_little_become_rare_and_others_do_not() {
        let mut pause = Pause::default();
        for length in [1, 2, 4] {
            assert!(pause.is_over());
            pause.begin(100, 95);
            assert!((0..length).all(|_| !pause.is_over()));
        }
        assert!(pause.is_over());
        pause.begin(100, 50);
        assert!(pause.is_over());
    }

    #[test]
    fn a_merge_of_an_emptied_tree_costs_nothing() {
        assert_eq!(stats(2_000_000, 1_000_000).cost(), 0);
        assert_eq!(stats(1_000_000, 250_000).cost(), 50 * MIB);
        let apart = TreeStats { values: 10 * MIB, stale: 5 * MIB, ..stats(0, 0) };
        assert_eq!(apart.cost(), 10 * MIB);
    }
}
