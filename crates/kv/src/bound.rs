//! Bounds of counters, checked where commits are put in order.
//!
//! Invariant: a bound depends on the newest value of its counter, never on what a snapshot showed, so that batches
//! which add to one counter do not conflict with each other. A refusal is final: reading again does not change it.

use bytes::Bytes;

use crate::{Batch, CommitError, Snapshot, Write, counter};

/// A counter may hold at most this much once the batch has added to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// The key of the counter.
    pub key: Bytes,
    /// The most that it may hold.
    pub most: i64,
}

impl Bound {
    /// Refuses the batch if its additions would bring the counter above the bound, as `view` has it. The sum is exact: one that
    /// does not fit into a counter is above every bound.
    pub(crate) fn check(&self, batch: &Batch, view: &dyn Snapshot) -> Result<(), CommitError> {
        let held = view.get(&self.key)?.map_or(0, |value| counter(&value));
        let sum = i128::from(held) + i128::from(batch.added_to(&self.key));
        match sum > i128::from(self.most) {
            true => Err(CommitError::Exceeded { key: self.key.clone(), held }),
            false => Ok(()),
        }
    }
}

impl Batch {
    /// Requires that the counter at `key` is at most `most` after the additions of this batch, whatever others have
    /// added since the snapshot. Other writes of the batch to the key are ignored.
    pub fn require_at_most(&mut self, key: impl Into<Bytes>, most: i64) -> &mut Self {
        self.bounds.push(Bound { key: key.into(), most });
        self
    }

    /// The sum of the additions to a counter, at most as large as a counter can be.
    pub(crate) fn added_to(&self, counter: &Bytes) -> i64 {
        let delta = |write: &Write| match write {
            Write::Add(key, delta) if key == counter => i128::from(*delta),
            _ => 0,
        };
        let sum: i128 = self.writes.iter().map(delta).sum();
        sum.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}
