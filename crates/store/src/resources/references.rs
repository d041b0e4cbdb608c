//! Which contents resources and their versions refer to.
//!
//! Invariant: a reference is a key of its own, written and deleted with what refers; counts
//! cannot drift, because there are none. A content that loses a reference is noted for the
//! sweep, which looks whether it was the last.

use crate::catalog::Transaction;
use crate::catalog::keys::{self, Counter};
use crate::model::{ContentId, Resource, ResourceId};

/// The version number that stands for the current content of a resource.
pub(crate) const CURRENT: u64 = 0;

/// Notes that a resource, or a version of it, refers to a content.
pub(crate) fn refer(tx: &mut Transaction, content: ContentId, id: ResourceId, version: u64) {
    tx.mark(keys::content_user(content, id, version));
}

/// Takes that back.
pub(crate) fn release(tx: &mut Transaction, content: ContentId, id: ResourceId, version: u64) {
    tx.delete(keys::content_user(content, id, version));
    tx.mark(keys::garbage(tx.now(), content));
}

/// The version number that stands for the stale replica of this number. No version comes near it.
pub(crate) fn replica_user(number: u32) -> u64 {
    u64::MAX - u64::from(number)
}

/// Whether a reference of this number comes from the resource itself, not from a version of it.
pub(crate) fn is_held(user: u64) -> bool {
    user == CURRENT || user >= replica_user(u32::MAX)
}

/// Notes what a resource refers to now, instead of before, as its content and in its stale replicas; and where its
/// replicas are.
pub(crate) fn update(
    tx: &mut Transaction,
    id: ResourceId,
    before: Option<&Resource>,
    after: Option<&Resource>,
) {
    let [old, new] = [before, after].map(|resource| resource.map(held).unwrap_or_default());
    for (content, user) in old.iter().filter(|held| !new.contains(held)) {
        release(tx, *content, id, *user);
    }
    for (content, user) in new.iter().filter(|held| !old.contains(held)) {
        refer(tx, *content, id, *user);
    }
    for (resource, sign) in [(before, -1), (after, 1)] {
        for place in resource.iter().flat_map(|resource| resource.placement.places()) {
            tx.add(place.0, Counter::Replicas, sign);
        }
    }
}

/// The contents that a resource holds, each with the number of its reference.
fn held(resource: &Resource) -> Vec<(ContentId, u64)> {
    let current = resource.content.iter().map(|head| (head.id, CURRENT));
    let stale = resource.placement.stale();
    let stale = stale.map(|(number, head)| (head.id, replica_user(number)));
    current.chain(stale).collect()
}
