//! When what a group adds to counters has to be written.
//!
//! Invariant: no batch depends on a counter, or writes to it otherwise, while additions of earlier batches to it are still to be written.
//! All other additions of a group are written at its end, each counter once.

use std::collections::BTreeSet;
use std::ops::Bound::{Excluded, Included, Unbounded};

use bytes::Bytes;

use crate::{Batch, Evidence, KeyRange, Write};

/// Counters to which the batches so far add, and which may not be written yet.
#[derive(Debug, Default)]
pub(super) struct Sums<'a>(BTreeSet<&'a Bytes>);

impl<'a> Sums<'a> {
    /// Whether they have to be written before `batch`, the next of the group, is checked.
    pub(super) fn come_first(&mut self, batch: &'a Batch) -> bool {
        let first = self.concern(batch);
        if first {
            self.0.clear();
        }
        self.0.extend(batch.writes.iter().filter_map(|write| match write {
            Write::Add(key, _) => Some(key),
            _ => None,
        }));
        first
    }

    fn concern(&self, batch: &Batch) -> bool {
        batch.evidence.iter().any(|evidence| self.were_seen(evidence))
            || batch.bounds.iter().any(|bound| self.0.contains(&bound.key))
            || batch.writes.iter().any(|write| self.are_overwritten(write))
    }

    fn were_seen(&self, evidence: &Evidence) -> bool {
        match evidence {
            Evidence::Keys(keys) => keys.iter().any(|(key, _)| self.0.contains(key)),
            Evidence::Range { range, .. } => self.has_any_in(range),
        }
    }

    fn are_overwritten(&self, write: &Write) -> bool {
        match write {
            Write::Add(..) => false,
            Write::Put(key, _) | Write::Delete(key) => self.0.contains(key),
            // Its key begins with the prefix.
            Write::Append(prefix, _) => self.has_any_in(&KeyRange::prefix(prefix.clone())),
        }
    }

    fn has_any_in(&self, range: &KeyRange) -> bool {
        let end = match &range.end {
            // A range that ends before it starts is empty, but a set refuses it.
            Some(end) if *end <= range.start => return false,
            Some(end) => Excluded(end),
            None => Unbounded,
        };
        self.0.range::<Bytes, _>((Included(&range.start), end)).next().is_some()
    }
}
