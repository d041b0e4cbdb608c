//! The only functions that write a resource's record.
//!
//! Invariant: the entry in the collection, its membership, the counters, the reference to the content, the index of
//! grants, the counts of quotas and the change feed follow the record, in the same transaction. A move over the edge of a quota is
//! counted by [`quotas::cross`] before.

use super::{grants, members, references};
use crate::catalog::keys::{self, Counter};
use crate::catalog::{ChangeKind, ChangeRecord, Child, Transaction};
use crate::model::{Access, Changed, PersonId, Resource, ResourceId};
use crate::quotas::Delta;
use crate::{Result, quotas};

/// Puts a new resource into its collection.
pub(crate) fn insert(tx: &mut Transaction, id: ResourceId, resource: &Resource) {
    link(tx, id, resource);
    members::changed(tx, resource.parent);
    record(tx, id, resource);
    tx.come.push(id);
    announce(tx, ChangeKind::Created, id, resource, Before::default(), resource.created_by);
}

/// Creates a new resource out of sight, or in a collection that is: nobody learns of it before that is [brought into the tree](take_back).
pub(crate) fn insert_aside(tx: &mut Transaction, id: ResourceId, resource: &Resource) {
    if resource.parent != ResourceId::REMOVED {
        link(tx, id, resource);
        members::changed(tx, resource.parent);
    }
    record(tx, id, resource);
}

/// Writes the record of a new resource.
fn record(tx: &mut Transaction, id: ResourceId, resource: &Resource) {
    tx.put(keys::resource(id), resource);
    note_undigested(tx, id, None, resource);
    references::update(tx, id, None, Some(resource));
    grants::update(tx, id, None, Some(resource));
    count(tx, resource, 1);
}

/// Replaces the record of a resource that stays where it is.
pub(crate) fn update(
    tx: &mut Transaction,
    kind: ChangeKind,
    id: ResourceId,
    old: &Resource,
    new: &Resource,
) {
    rewrite_record(tx, id, old, new);
    let access = (kind == ChangeKind::Granted).then(|| old.access.clone());
    announce(tx, kind, id, new, Before { access, ..Before::default() }, new.modified_by);
}

/// Replaces the record by one that says the same in another way: no clock moves, and nothing is announced.
pub(crate) fn rewrite_record(tx: &mut Transaction, id: ResourceId, old: &Resource, new: &Resource) {
    references::update(tx, id, Some(old), Some(new));
    grants::update(tx, id, Some(old), Some(new));
    let grown = size(new) - size(old);
    tx.add(old.parent.0, Counter::Bytes, grown);
    tx.add(0, Counter::Bytes, grown);
    tx.tallies.count(new, Delta::bytes(grown));
    tx.tallies.replace(id, old, new);
    if old.kind != new.kind {
        link(tx, id, new);
    }
    note_undigested(tx, id, Some(old), new);
    tx.put(keys::resource(id), new);
}

/// Moves a resource to the collection and name in `new`.
pub(crate) fn detach(
    tx: &mut Transaction,
    id: ResourceId,
    old: &Resource,
    new: &Resource,
    by: PersonId,
) {
    tx.delete(keys::child(old.parent, &old.name));
    link(tx, id, new);
    carry_over(tx, id, old, new);
    members::changed(tx, old.parent);
    if new.parent != old.parent {
        members::changed(tx, new.parent);
    }
    tx.come.push(id);
    let place = Some((old.parent, old.name.clone()));
    announce(tx, ChangeKind::Moved, id, new, Before { place, ..Before::default() }, by);
}

/// Moves a resource that was removed out of sight, with everything below it: its record and what belongs to it stay.
/// It counts for the same quotas as before.
pub(crate) fn put_aside(
    tx: &mut Transaction,
    id: ResourceId,
    old: Resource,
    by: PersonId,
) -> Result<()> {
    unlink(tx, id, &old, by);
    let counting = quotas::removed(tx, &old)?;
    let new = Resource { parent: ResourceId::REMOVED, counting, ..old.clone() };
    carry_over(tx, id, &old, &new);
    Ok(())
}

/// Moves a resource that was created out of sight to the collection and name in `new`. In the change feed it comes from nowhere,
/// as what moves into a caller's sight.
pub(crate) fn take_back(
    tx: &mut Transaction,
    id: ResourceId,
    old: &Resource,
    new: &Resource,
    by: PersonId,
) {
    link(tx, id, new);
    carry_over(tx, id, old, new);
    members::changed(tx, new.parent);
    tx.come.push(id);
    announce(tx, ChangeKind::Moved, id, new, Before::default(), by);
}

/// What changes with the collection of a resource, other than the entries.
fn carry_over(tx: &mut Transaction, id: ResourceId, old: &Resource, new: &Resource) {
    grants::update(tx, id, Some(old), Some(new));
    tx.put(keys::resource(id), new);
    for (resource, sign) in [(old, -1), (new, 1)] {
        tx.add(resource.parent.0, Counter::Resources, sign);
        tx.add(resource.parent.0, Counter::Bytes, sign * size(resource));
    }
}

/// Takes a resource out of the tree.
pub(crate) fn unlink(tx: &mut Transaction, id: ResourceId, resource: &Resource, by: PersonId) {
    tx.delete(keys::child(resource.parent, &resource.name));
    members::changed(tx, resource.parent);
    announce(tx, ChangeKind::Removed, id, resource, Before::default(), by);
}

/// Counts one change of a resource by `by`, now.
pub(crate) fn count_change(
    tx: &Transaction,
    resource: &mut Resource,
    changed: Changed,
    by: PersonId,
) {
    resource.count_change(changed, tx.now(), by);
}

/// Adds a resource to the counters, or takes it from them.
pub(crate) fn count(tx: &mut Transaction, resource: &Resource, sign: i64) {
    for id in [resource.parent.0, 0] {
        tx.add(id, Counter::Resources, sign);
        tx.add(id, Counter::Bytes, sign * size(resource));
    }
    let itself = Delta::of(resource);
    tx.tallies.count(resource, if sign < 0 { -itself } else { itself });
}

fn size(resource: &Resource) -> i64 {
    resource.content.as_ref().map_or(0, |content| content.size as i64)
}

/// Whether the content of a resource has no SHA-256 yet.
pub(crate) fn is_undigested(resource: &Resource) -> bool {
    resource.content.as_ref().is_some_and(|content| content.digests.sha256.is_none())
}

fn note_undigested(tx: &mut Transaction, id: ResourceId, old: Option<&Resource>, new: &Resource) {
    match (old.is_some_and(is_undigested), is_undigested(new)) {
        (false, true) => tx.mark(keys::undigested(id)),
        (true, false) => tx.delete(keys::undigested(id)),
        _ => {}
    }
}

fn link(tx: &mut Transaction, id: ResourceId, resource: &Resource) {
    let child = Child { id, kind: resource.kind };
    tx.put(keys::child(resource.parent, &resource.name), &child);
}

/// What a resource was before a change of it, as far as the change feed keeps that.
#[derive(Default)]
struct Before {
    place: Option<(ResourceId, String)>,
    access: Option<Access>,
}

fn announce(
    tx: &mut Transaction,
    kind: ChangeKind,
    id: ResourceId,
    resource: &Resource,
    before: Before,
    by: PersonId,
) {
    let change = ChangeRecord {
        kind,
        id,
        parent: resource.parent,
        name: resource.name.clone(),
        from: before.place,
        at: tx.now(),
        by,
        revision: resource.revision,
        access: Some(resource.access.clone()),
        access_before: before.access,
    };
    tx.append(keys::feed(), &change);
}
