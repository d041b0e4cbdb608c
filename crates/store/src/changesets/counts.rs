//! How many change sets there are, and what became of others.

use std::sync::atomic::{AtomicU64, Ordering};

use super::ChangeSetState;

/// How many change sets there are, and what became of others since the store was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSetCounts {
    /// Those that are open.
    pub open: u64,
    /// The bytes that they keep in memory.
    pub bytes: u64,
    /// How many ended in each way.
    pub ended: Vec<(ChangeSetState, u64)>,
}

const ENDS: [ChangeSetState; 5] = [
    ChangeSetState::Committed,
    ChangeSetState::Dropped,
    ChangeSetState::Expired,
    ChangeSetState::Conflicted,
    ChangeSetState::Unknown,
];

/// Counts the ends of change sets.
#[derive(Debug, Default)]
pub(super) struct Ends([AtomicU64; ENDS.len()]);

impl Ends {
    pub(super) fn add(&self, how: ChangeSetState) {
        let ended = ENDS.iter().position(|end| *end == how);
        if let Some(count) = ended.and_then(|at| self.0.get(at)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn counts(&self) -> Vec<(ChangeSetState, u64)> {
        let counts = self.0.iter().map(|count| count.load(Ordering::Relaxed));
        ENDS.into_iter().zip(counts).collect()
    }
}
