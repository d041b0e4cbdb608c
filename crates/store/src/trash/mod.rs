//! What was removed and is kept for a while, to be restored or emptied.
//!
//! Invariants: a resource has a [`TrashRecord`] exactly while it is below [`ResourceId::REMOVED`] and can be restored, and then an
//! entry in the order of expiry and one by where it was; one more, in the order of removal, if it counts for the limit of a
//! collection. Whatever is below it stays as it was, and is found by no path, id, search, listing or feed.
//! Keeping and restoring cost one commit, whatever hangs below.

mod amount;
mod limit;
mod list;
mod purge;
mod reading;
mod restore;
mod room;
mod tombstone;

use std::time::Duration;

use crate::access::{Chain, Operation, permits_removed};
use crate::catalog::keys::{self, Counter};
use crate::catalog::{Amount, JobRecord, Reads, Transaction, TrashRecord};
use crate::model::{Kind, Name, PersonId, Resource, ResourceId, StorePath, Time};
use crate::resources::put_aside;
use crate::{Bytes, Caller, Error, ErrorKind, Result, Store};

pub(crate) use amount::amount_below;
pub(crate) use limit::limited_by;
pub use list::{TrashCursor, TrashOptions, TrashPage, TrashTotal};
pub use reading::Removed;
pub use restore::RestoreOptions;
pub(crate) use room::Room;
pub use tombstone::Tombstone;

/// Counters with this id are the number of removed resources that are kept, and their bytes as far as they have been counted.
pub(crate) const TRASH: u64 = 3;

/// A removed resource that can be restored, with everything below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrashItem {
    /// Its id, which it has again when it is restored.
    pub id: ResourceId,
    /// What it is.
    pub kind: Kind,
    /// Its path when it was removed.
    pub path: String,
    /// When it was removed.
    pub removed: Time,
    /// Who removed it.
    pub removed_by: PersonId,
    /// It is kept until then.
    pub until: Time,
    /// How many resources there are, itself among them; none while they are counted.
    pub resources: Option<u64>,
    /// Bytes of their contents; those of versions and copies in several places do not count.
    pub bytes: Option<u64>,
}

impl TrashItem {
    fn new(id: ResourceId, kind: Kind, record: TrashRecord) -> Self {
        let TrashRecord { path, removed, removed_by, until, amount, .. } = record;
        let resources = amount.map(|amount| amount.resources);
        let bytes = amount.map(|amount| amount.bytes);
        Self { id, kind, path, removed, removed_by, until, resources, bytes }
    }
}

impl TrashRecord {
    /// The key of its entry by where the resource was.
    pub(crate) fn entry(&self, id: ResourceId) -> Bytes {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        keys::removed(self.parent, name, id)
    }

    /// The keys of all its entries.
    pub(crate) fn entries(&self, id: ResourceId) -> impl Iterator<Item = Bytes> {
        let limited = self.limited_by.map(|by| keys::limited(by, self.removed, id));
        [keys::expiry(self.until, id), self.entry(id)].into_iter().chain(limited)
    }
}

/// How long the nearest collection with a setting keeps removed resources; none if they are removed at once.
pub(crate) fn retention(chain: &Chain) -> Option<Duration> {
    let seconds = chain.resources().find_map(|resource| resource.keep_removed);
    seconds.filter(|seconds| *seconds > 0).map(Duration::from_secs)
}

impl Store {
    /// Removes a resource, and keeps it with everything below it for a while.
    pub(crate) fn keep_removed(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        chain: Chain,
        retention: Duration,
        has_children: bool,
    ) -> Result<TrashItem> {
        let (id, path) = (chain.id(), shown_path(&chain));
        let limited_by = limited_by(&chain);
        let resource = chain.into_resource();
        let record = TrashRecord {
            parent: resource.parent,
            path,
            removed: tx.now(),
            removed_by: caller.user(),
            until: tx.now().plus(retention),
            amount: (!has_children).then(|| amount_of(&resource)),
            limited_by,
        };
        tx.put(keys::trash(id), &record);
        record.entries(id).for_each(|entry| tx.mark(entry));
        tx.add(TRASH, Counter::Resources, 1);
        count_bytes(tx, &record, 1);
        if record.amount.is_none() {
            tx.put(keys::job(self.new_id()?), &JobRecord::Measure(id));
        }
        let item = TrashItem::new(id, resource.kind, record);
        put_aside(tx, id, resource, caller.user())?;
        Ok(item)
    }
}

/// The path, or the name of what is deeper than anything new may be, or below something deleted.
fn shown_path(chain: &Chain) -> String {
    shown_below(chain.collection().as_ref(), &chain.resource().name)
}

/// The same of something with this name in a collection.
pub(crate) fn shown_below(above: Option<&Chain>, name: &str) -> String {
    let root = |above: &&Chain| above.contains(ResourceId::ROOT);
    let above = above.filter(|above| above.depth() < StorePath::MAX_DEPTH).filter(root);
    let path = above.and_then(|above| above.path().join(Name::trusted(name)).ok());
    path.map_or_else(|| format!("/{name}"), |path| path.to_string())
}

fn amount_of(resource: &Resource) -> Amount {
    let bytes = resource.content.as_ref().map_or(0, |content| content.size);
    Amount { resources: 1, bytes }
}

/// Counts the bytes that are noted in a record, or takes them off.
fn count_bytes(tx: &mut Transaction, record: &TrashRecord, sign: i64) {
    let bytes = record.amount.unwrap_or_default().bytes as i64;
    add_bytes(tx, record, sign.wrapping_mul(bytes));
}

/// Counts this many bytes more, wherever a removed resource counts.
pub(crate) fn add_bytes(tx: &mut Transaction, record: &TrashRecord, bytes: i64) {
    tx.add(TRASH, Counter::Bytes, bytes);
    if let Some(collection) = record.limited_by {
        tx.add(collection.0, Counter::Removed, bytes);
    }
}

/// The record of a removed resource and its chain, if `caller` may do this with it.
fn find(
    reads: &impl Reads,
    caller: &Caller,
    id: ResourceId,
    operation: Operation,
) -> Result<(TrashRecord, Chain)> {
    let missing = || {
        Error::new(ErrorKind::NotFound, format!("nothing in the trash has the id {id}"))
            .with_hint("list the trash (`cenote trash ls`)")
    };
    let record = reads.get::<TrashRecord>(&keys::trash(id))?.ok_or_else(missing)?;
    let chain = Chain::read_removed(reads, id)?.ok_or_else(missing)?;
    match permits_removed(caller, &chain, record.removed_by, operation) {
        true => Ok((record, chain)),
        false => Err(missing()),
    }
}

/// Whether `caller` may do this with a removed resource.
fn permits(
    reads: &impl Reads,
    caller: &Caller,
    id: ResourceId,
    record: &TrashRecord,
    operation: Operation,
) -> Result<bool> {
    let chain = Chain::read_removed(reads, id)?;
    Ok(chain.is_some_and(|chain| permits_removed(caller, &chain, record.removed_by, operation)))
}

/// Deletes the record of a removed resource: it is no longer kept.
fn forget(tx: &mut Transaction, id: ResourceId, record: &TrashRecord) {
    tx.delete(keys::trash(id));
    record.entries(id).for_each(|entry| tx.delete(entry));
    tx.add(TRASH, Counter::Resources, -1);
    count_bytes(tx, record, -1);
}
