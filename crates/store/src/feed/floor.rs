//! The far end of the change feed: old changes are deleted.
//!
//! Invariant: the floor is raised in the commit that forgets the changes up to it, so that a
//! reader either gets every change after their position, or an error because they come too late.

use bytes::Bytes;

use super::Position;
use crate::catalog::{ChangeRecord, Reads, Record, Transaction, keys};
use crate::model::Time;
use crate::{Result, Store};

/// How many changes one commit forgets.
const STEP: usize = 1_000;

impl Store {
    /// Forgets the changes before `cutoff`; returns how many.
    pub fn trim_changes(&self, cutoff: Time) -> Result<u64> {
        let mut trimmed = 0;
        loop {
            let old = self.changes_before(cutoff)?;
            let Some(newest) = old.last() else { return Ok(trimmed) };
            let newest = Position(keys::feed_position(newest));
            self.transact(|tx| {
                tx.frees_space();
                old.iter().for_each(|key| tx.delete(key.clone()));
                raise_floor(tx, newest)
            })?;
            trimmed += old.len() as u64;
        }
    }

    /// The keys of the oldest changes, as far as they are older than `cutoff`.
    fn changes_before(&self, cutoff: Time) -> Result<Vec<Bytes>> {
        let mut old = Vec::new();
        for (key, value) in self.view()?.rows(&keys::feed_after(None), STEP)? {
            if ChangeRecord::from_value(&value)?.at >= cutoff {
                break;
            }
            old.push(key);
        }
        Ok(old)
    }
}

/// The setting that holds the position of the newest change that was forgotten.
const FLOOR: &str = "feed-floor";

/// Has the feed begin after a position, unless it begins later.
pub(crate) fn raise_floor(tx: &mut Transaction, forgotten: Position) -> Result<()> {
    let raised = floor(tx)?.max(forgotten).0.unwrap_or_default();
    tx.put_raw(keys::setting(FLOOR), Bytes::copy_from_slice(&raised));
    Ok(())
}

/// Where the feed begins: after this position every change is kept.
pub(crate) fn floor(reads: &impl Reads) -> Result<Position> {
    let floor = reads.value(&keys::setting(FLOOR))?;
    Ok(Position(floor.and_then(|bytes| bytes.as_ref().try_into().ok())))
}
