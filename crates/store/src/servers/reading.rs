//! Since when servers have been reading, so that none deletes what another one reads.
//!
//! Invariant: a content that lost its last reference is deleted only once every server has shown that its oldest reader, hold or
//! change set began later. What began after the last sign of life is protected by the grace of the sweep ([`Pace::grace`](crate::Pace)),
//! which is much longer than the time between two of them, and than clocks of servers differ.

use std::time::Duration;

use cenote_kv::KeyRange;

use crate::catalog::{Reads, Record, ServerRecord, keys};
use crate::model::Time;
use crate::{Result, Store};

/// By how much the clocks of two servers may differ.
const SKEW: Duration = Duration::from_secs(300);

impl Store {
    /// When the oldest reader, hold or change set of this process began, at the latest; none without any.
    pub(super) fn reading_since(&self) -> Option<Time> {
        let pinned = self.inner.pins.oldest(self.now());
        let sets = self.inner.change_sets.oldest();
        pinned.into_iter().chain(sets).min()
    }

    /// The notes of contents that no server can be reading any more, `grace` after they lost their last reference and before any of
    /// them that is still reading began. Zero means no grace period.
    pub(crate) fn unread(&self, grace: Duration) -> Result<KeyRange> {
        let rows = match self.is_shared() {
            true => self.itself().view()?.rows(&keys::servers(), usize::MAX)?,
            false => Vec::new(),
        };
        let mut oldest = None;
        for (_, value) in rows {
            let reading = ServerRecord::from_value(&value)?.reading;
            oldest = oldest.into_iter().chain(reading).min();
        }
        match (grace, oldest) {
            (Duration::ZERO, None) => Ok(keys::all_garbage()),
            (grace, None) => Ok(keys::garbage_before(self.now().minus(grace))),
            (grace, Some(oldest)) => {
                let before = self.now().minus(grace).min(oldest.minus(SKEW));
                Ok(keys::garbage_before(before))
            }
        }
    }
}
