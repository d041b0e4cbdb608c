//! Purging the trash: when items expire, when space is needed, or on demand.
//!
//! Each step is one bounded commit. Resources with children are left to the sweep, a job that is resumed after a restart. What is damaged
//! stays, and keeps nothing else.

use std::ops::AddAssign;

use bytes::Bytes;
use cenote_kv::KeyRange;

use super::{TRASH, permits};
use crate::access::Operation;
use crate::catalog::keys::{self, Counter};
use crate::catalog::{JobRecord, Reads, Record, Transaction, TrashRecord};
use crate::model::{Resource, ResourceId};
use crate::resources::has_children;
use crate::tree::erase;
use crate::{Act, Caller, ErrorKind, Result, Store};

/// How many removed resources one commit looks at.
const STEP: usize = 64;

/// The purged resources.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Gone {
    pub(super) items: u64,
    /// As far as it is noted how many they are.
    pub(super) bytes: u64,
}

impl AddAssign for Gone {
    fn add_assign(&mut self, other: Self) {
        self.items += other.items;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

impl Store {
    /// Removes for good what has been kept as long as it was to be; returns how many resources that were, those below them not
    /// counted.
    pub fn purge_trash(&self) -> Result<u64> {
        let (mut range, mut gone) = (keys::expired(self.now()), Gone::default());
        while let Some((entries, rest)) = self.trash_page(&range)? {
            gone += self.purge_each(&entries, Self::purge_entry)?;
            range = rest;
        }
        Ok(self.purged(gone).items)
    }

    /// Removes the first of these entries for good, until this many bytes have been freed.
    pub(super) fn purge_bytes(&self, mut range: KeyRange, bytes: u64) -> Result<Gone> {
        let mut gone = Gone::default();
        while gone.bytes < bytes {
            let Some((entries, rest)) = self.trash_page(&range)? else { break };
            let enough = self.first_bytes(&entries, bytes - gone.bytes)?;
            gone += self.purge_each(&entries[..enough], Self::purge_entry)?;
            range = rest;
        }
        Ok(self.purged(gone))
    }

    /// Removes one resource for good that was removed before. What the caller needs is as for restoring it.
    pub fn empty_trash_of(&self, caller: &Caller, id: ResourceId) -> Result<()> {
        caller.require(Act::Trash)?;
        let gone = self.transact(|tx| {
            tx.frees_space();
            super::find(tx, caller, id, Operation::Remove)?;
            self.purge_one(tx, id)
        })?;
        self.purged(gone);
        Ok(())
    }

    /// Removes for good all that the caller could restore; returns how many resources that were, those below them not counted.
    /// It is many commits.
    pub fn empty_trash(&self, caller: &Caller) -> Result<u64> {
        caller.require(Act::Trash)?;
        let (mut range, mut gone) = (keys::all_trash(), Gone::default());
        while let Some((records, rest)) = self.trash_page(&range)? {
            gone += self.purge_each(&records, |store, tx, key| {
                let id = ResourceId(keys::first_id(key).unwrap_or_default());
                match may_empty(tx, caller, id)? {
                    true => store.purge_one(tx, id),
                    false => Ok(Gone::default()),
                }
            })?;
            range = rest;
        }
        Ok(self.purged(gone).items)
    }

    /// Some keys of a table, and the range of those after them.
    fn trash_page(&self, range: &KeyRange) -> Result<Option<(Vec<Bytes>, KeyRange)>> {
        let rows = self.view()?.rows(range, STEP)?;
        let keys: Vec<_> = rows.into_iter().map(|(key, _)| key).collect();
        let rest = keys.last().map(|last| range.clone().after(last));
        Ok(rest.map(|rest| (keys, rest)))
    }

    /// How many of these entries have this many bytes together, as far as that is noted.
    fn first_bytes(&self, entries: &[Bytes], bytes: u64) -> Result<usize> {
        let ids: Vec<_> = entries.iter().map(|entry| named_by(entry)).collect();
        let (mut sum, mut enough) = (0u64, 0);
        for value in self.view()?.values_of(&ids, keys::trash)? {
            if sum >= bytes {
                break;
            }
            sum = sum.saturating_add(value.map_or(0, |value| noted_bytes(&value)));
            enough += 1;
        }
        Ok(enough)
    }

    /// Does this with each, in bounded commits: with many together, or with each by itself where something is damaged.
    fn purge_each(
        &self,
        all: &[Bytes],
        purge: impl Fn(&Self, &mut Transaction, &Bytes) -> Result<Gone>,
    ) -> Result<Gone> {
        let (mut left, mut step, mut gone) = (all, STEP, Gone::default());
        while !left.is_empty() {
            let some = &left[..step.min(left.len())];
            match self.transact(|tx| self.purge_some(tx, some, &purge)) {
                Ok((done, some)) => {
                    gone += some;
                    left = &left[done..];
                }
                Err(error) if error.kind() != ErrorKind::Damaged => return Err(error),
                Err(error) if step == 1 => {
                    tracing::warn!(%error, "a damaged item remains in the trash");
                    left = &left[1..];
                }
                Err(_) => step = 1,
            }
        }
        Ok(gone)
    }

    /// One commit: returns how many of these it handled.
    fn purge_some(
        &self,
        tx: &mut Transaction,
        some: &[Bytes],
        purge: impl Fn(&Self, &mut Transaction, &Bytes) -> Result<Gone>,
    ) -> Result<(usize, Gone)> {
        tx.frees_space();
        let room = self.parts().engine.limits().batch / 4;
        let (mut done, mut gone) = (0, Gone::default());
        for key in some {
            if tx.size() > room {
                break;
            }
            gone += purge(self, tx, key)?;
            done += 1;
        }
        Ok((done, gone))
    }

    /// Removes for good what an entry of the order of expiry or removal names, if it is still there.
    fn purge_entry(&self, tx: &mut Transaction, entry: &Bytes) -> Result<Gone> {
        if !tx.has(entry)? {
            return Ok(Gone::default());
        }
        let gone = self.purge_one(tx, named_by(entry))?;
        // An entry for a resource that is no longer kept would be found repeatedly.
        tx.delete(entry.clone());
        Ok(gone)
    }

    /// Removes a resource for good, also if its record in the trash is damaged or lost.
    fn purge_one(&self, tx: &mut Transaction, id: ResourceId) -> Result<Gone> {
        let resource = tx.get::<Resource>(&keys::resource(id))?;
        let bytes = forget_any(tx, id)?;
        match resource.filter(|resource| resource.parent == ResourceId::REMOVED) {
            None => return Ok(Gone::default()),
            Some(_) if has_children(tx, id)? => {
                tx.put(keys::job(self.new_id()?), &JobRecord::Sweep(id));
            }
            Some(resource) => erase(tx, id, &resource)?,
        }
        Ok(Gone { items: 1, bytes })
    }

    /// Has upkeep sweep what is below.
    fn purged(&self, gone: Gone) -> Gone {
        if gone.items > 0 {
            self.inner.work.notify_one();
        }
        gone
    }
}

/// The resource that an entry names.
fn named_by(entry: &[u8]) -> ResourceId {
    ResourceId(keys::last_id(entry).unwrap_or_default())
}

/// Whether a caller may permanently remove an item of the trash.
fn may_empty(reads: &impl Reads, caller: &Caller, id: ResourceId) -> Result<bool> {
    let record = reads.get::<TrashRecord>(&keys::trash(id))?;
    let may = |record: TrashRecord| permits(reads, caller, id, &record, Operation::Remove);
    record.map_or(Ok(false), may)
}

/// Deletes the record of a removed resource, whatever it contains; returns the recorded bytes.
fn forget_any(tx: &mut Transaction, id: ResourceId) -> Result<u64> {
    let Some(value) = tx.value(&keys::trash(id))? else { return Ok(0) };
    match TrashRecord::from_value(&value) {
        Ok(record) => super::forget(tx, id, &record),
        Err(_) => {
            tx.delete(keys::trash(id));
            tx.add(TRASH, Counter::Resources, -1);
        }
    }
    Ok(noted_bytes(&value))
}

fn noted_bytes(value: &[u8]) -> u64 {
    let amount = TrashRecord::from_value(value).ok().and_then(|record| record.amount);
    amount.map_or(0, |amount| amount.bytes)
}
