//! Which counts a resource bears on: those of the collections above it, or, once it was removed, of those that it was in.

use crate::Result;
use crate::access::Chain;
use crate::catalog::keys::{self, Counter};
use crate::catalog::{Placed, QuotaRecord, Reads, Transaction};
use crate::model::{Counted, Counting, PersonId, Resource, ResourceId, StorePath};
use crate::resources::rewrite_record;

/// The location of a resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Lies {
    /// In this collection, even if it is in a removed tree.
    In(ResourceId),
    /// Nowhere, since it was removed; until it is deleted it counts for these.
    Removed(Vec<Counted>),
}

impl Lies {
    pub(crate) fn of(resource: &Resource) -> Self {
        match resource.parent {
            ResourceId::REMOVED => Self::Removed(removed_from(resource.counting.as_ref())),
            parent => Self::In(parent),
        }
    }
}

/// A count that a resource bears on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Count {
    /// That of a quota.
    Quota(Counted),
    /// That of a tree, with its top, which is about to be moved.
    Mark(ResourceId, u64),
}

/// The counts that apply to a resource there.
///
/// Cost: nothing where the collections above were read before, as those who decide on access have.
pub(super) fn above(reads: &impl Reads, lies: &Lies) -> Result<Vec<Count>> {
    let mut counts = Vec::new();
    let mut next = match lies {
        Lies::In(parent) => *parent,
        Lies::Removed(from) => {
            counts.extend(from.iter().copied().map(Count::Quota));
            return Ok(counts);
        }
    };
    for _ in 0..=StorePath::MOST_NAMES {
        let Some(placed) = reads.get::<Placed>(&keys::resource(next))? else { break };
        counts.extend(of_collection(next, placed.counting.as_ref()));
        match placed.parent {
            _ if next == ResourceId::ROOT => break,
            ResourceId::REMOVED => {
                let from = removed_from(placed.counting.as_ref());
                counts.extend(from.into_iter().map(Count::Quota));
                break;
            }
            parent => next = parent,
        }
    }
    Ok(counts)
}

/// Whether there was ever a quota in this store.
///
/// Cost: nothing, since this is recorded in the root, which every access decision has read.
pub(crate) fn in_use(reads: &impl Reads) -> Result<bool> {
    let root = reads.get::<Placed>(&keys::resource(ResourceId::ROOT))?;
    Ok(root.and_then(|root| root.counting).is_some_and(|counting| counting.in_use))
}

/// The quotas for the resources of an owner: their own, and those of groups that they are in.
///
/// Cost: nothing if nobody has a quota, since this is recorded in the root, which every access decision has read.
pub(super) fn of_owner(reads: &impl Reads, owner: PersonId) -> Result<Vec<Counted>> {
    let root = reads.get::<Placed>(&keys::resource(ResourceId::ROOT))?;
    by_owner(reads, owner, root.and_then(|root| root.counting).as_ref())
}

fn by_owner(reads: &impl Reads, owner: PersonId, root: Option<&Counting>) -> Result<Vec<Counted>> {
    if !root.is_some_and(|counting| counting.owners) {
        return Ok(Vec::new());
    }
    let record = reads.get::<QuotaRecord>(&keys::quota(owner.0))?;
    Ok(record.map_or_else(Vec::new, |record| record.counts(owner)))
}

/// The quotas of something in this collection that belongs to `owner`, without reading the collections again.
pub(super) fn quotas_in(
    reads: &impl Reads,
    collection: &Chain,
    owner: PersonId,
) -> Result<Vec<Counted>> {
    let counts = collection.links().flat_map(|(id, it)| of_collection(id, it.counting.as_ref()));
    let quotas = counts.filter_map(|count| match count {
        Count::Quota(counted) => Some(counted),
        Count::Mark(..) => None,
    });
    let mut quotas: Vec<_> = quotas.collect();
    let root = collection.links().last().and_then(|(_, root)| root.counting.as_ref());
    quotas.extend(by_owner(reads, owner, root)?);
    Ok(quotas)
}

impl QuotaRecord {
    /// What counts for a user with this record.
    pub(super) fn counts(&self, user: PersonId) -> Vec<Counted> {
        let own = (self.count != NOT_COUNTED).then_some(Counted { of: user.0, count: self.count });
        own.into_iter().chain(self.groups.iter().copied()).collect()
    }
}

/// The count of a user who has no quota, and is in groups that have one.
pub(super) const NOT_COUNTED: u64 = 0;

fn of_collection(id: ResourceId, counting: Option<&Counting>) -> impl Iterator<Item = Count> {
    let quota = counting.and_then(|counting| counting.quota);
    let moving = counting.and_then(|counting| counting.moving);
    let quota = quota.map(|count| Count::Quota(Counted { of: id.0, count }));
    quota.into_iter().chain(moving.map(|count| Count::Mark(id, count)))
}

fn removed_from(counting: Option<&Counting>) -> Vec<Counted> {
    counting.map(|counting| counting.removed_from.clone()).unwrap_or_default()
}

/// What the record of a resource says that is being removed with everything below it. How much that is is not known, so no tree that
/// it is taken from can be moved by a count that was begun before.
pub(crate) fn removed(tx: &mut Transaction, old: &Resource) -> Result<Option<Counting>> {
    if !in_use(tx)? {
        return Ok(None);
    }
    let mut counting = old.counting.clone().unwrap_or_default();
    for count in above(tx, &Lies::of(old))? {
        match count {
            Count::Quota(counted) => counting.removed_from.push(counted),
            Count::Mark(top, count) => unmark(tx, top, count)?,
        }
    }
    Ok(counting.or_none())
}

/// Forgets that a tree is about to be moved.
pub(super) fn unmark(tx: &mut Transaction, top: ResourceId, count: u64) -> Result<()> {
    let resource = tx.get::<Resource>(&keys::resource(top))?;
    let is_marked = |counting: &Counting| counting.moving == Some(count);
    if let Some(old) = resource.filter(|it| it.counting.as_ref().is_some_and(is_marked)) {
        let counting = old.counting.clone().unwrap_or_default();
        let counting = Counting { moving: None, ..counting }.or_none();
        rewrite_record(tx, top, &old, &Resource { counting, ..old.clone() });
    }
    forget(tx, count);
    Ok(())
}

/// Deletes a count, and the job that would see to it.
pub(super) fn forget(tx: &mut Transaction, count: u64) {
    for what in [Counter::Bytes, Counter::Resources] {
        tx.delete(keys::counter(count, what));
    }
    tx.delete(keys::job(count));
}
