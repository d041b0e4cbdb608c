//! The membership of collections: a tag and a time that change with every child that is added, removed or renamed.
//!
//! Invariant: a change of the membership reads nothing. The count is an addition and the time is written blindly, so
//! however many writers a collection has, they do not conflict with each other.

use cenote_kv::counter;

use crate::catalog::{Reads, Record, Transaction, View, keys};
use crate::model::{Kind, Membership, Resource, ResourceId, Stat, Time};
use crate::{Bytes, Result, Store};

/// Records that a child of a collection was added, removed or renamed.
pub(super) fn changed(tx: &mut Transaction, collection: ResourceId) {
    tx.add_to(keys::member_changes(collection), 1);
    tx.put(keys::members_changed(collection), &tx.now());
}

/// Forgets the membership of a collection that is deleted.
pub(crate) fn erase(tx: &mut Transaction, id: ResourceId, resource: &Resource) {
    if resource.kind == Kind::Collection {
        tx.delete(keys::member_changes(id));
        tx.delete(keys::members_changed(id));
    }
}

/// The membership of one collection.
pub(crate) fn read(
    reads: &impl Reads,
    id: ResourceId,
    collection: &Resource,
) -> Result<Membership> {
    let mut values = reads.values(&[keys::member_changes(id), keys::members_changed(id)])?;
    let changed = values.pop().flatten();
    of_values(id, collection, values.pop().flatten(), changed)
}

impl Store {
    /// The memberships of the collections among these resources; none for the others.
    pub fn memberships(&self, of: &[Stat]) -> Result<Vec<Option<Membership>>> {
        memberships(&self.view()?, of)
    }

    /// The modification time to show for a resource: that of the content, and of a collection that of
    /// the membership, or the one that a client set.
    pub fn shown_mtime(&self, of: &Stat) -> Result<Time> {
        shown_mtime(&self.view()?, of)
    }
}

/// [`Store::shown_mtime`] on a view.
pub(crate) fn shown_mtime(reads: &impl Reads, of: &Stat) -> Result<Time> {
    match of.resource.kind {
        Kind::Collection => Ok(read(reads, of.id, &of.resource)?.shown_mtime(&of.resource)),
        _ => Ok(of.resource.shown_mtime()),
    }
}

/// So many collections are looked up one by one.
const FEW: usize = 8;

/// The keys of what a membership consists of: its changes, and the time of the last.
pub(crate) fn keys_of(id: ResourceId) -> [Bytes; 2] {
    [keys::member_changes(id), keys::members_changed(id)]
}

/// [`Store::memberships`] on a view.
pub(crate) fn memberships(view: &View, of: &[Stat]) -> Result<Vec<Option<Membership>>> {
    let is_collection = |stat: &&Stat| stat.resource.kind == Kind::Collection;
    let ids: Vec<_> = of.iter().filter(is_collection).map(|stat| stat.id).collect();
    let values = match ids.len() {
        // Together, since that is one round trip over a network.
        ..=FEW => view.values(&ids.iter().flat_map(|id| keys_of(*id)).collect::<Vec<_>>())?,
        _ => {
            let changes = view.values_of(&ids, keys::member_changes)?;
            let times = view.values_of(&ids, keys::members_changed)?;
            changes.into_iter().zip(times).flat_map(|(changes, time)| [changes, time]).collect()
        }
    };
    let mut found = values.chunks_exact(2).map(|of| (of[0].clone(), of[1].clone()));
    let membership = |stat: &Stat| match is_collection(&stat).then(|| found.next()).flatten() {
        Some((changes, time)) => of_values(stat.id, &stat.resource, changes, time).map(Some),
        None => Ok(None),
    };
    of.iter().map(membership).collect()
}

fn of_values(
    id: ResourceId,
    collection: &Resource,
    changes: Option<Bytes>,
    changed: Option<Bytes>,
) -> Result<Membership> {
    let changed = changed.map(|time| Time::from_value(&time)).transpose()?;
    Ok(Membership {
        collection: id,
        changes: changes.map_or(0, |value| counter(&value)) as u64,
        changed: changed.unwrap_or(collection.created),
    })
}
