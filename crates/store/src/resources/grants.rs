//! The index of grants: the resources shared with a principal, without a walk of the tree.
//!
//! Invariant: a resource in the tree has an entry for each person other than its owner whom its access list names.
//! The root has none, since every listing begins there.

use std::collections::BTreeSet;

use bytes::Bytes;

use crate::catalog::{Transaction, keys};
use crate::model::{Resource, ResourceId};

/// The entries of a resource.
pub(crate) fn entries(id: ResourceId, resource: &Resource) -> BTreeSet<Bytes> {
    if id == ResourceId::ROOT || resource.parent == ResourceId::REMOVED {
        return BTreeSet::new();
    }
    let grants = resource.access.grants.iter();
    let others = grants.filter(|grant| grant.person != resource.owner);
    others.map(|grant| keys::grant(grant.person, resource.parent, id)).collect()
}

/// Follows a change of a resource's record.
pub(crate) fn update(
    tx: &mut Transaction,
    id: ResourceId,
    old: Option<&Resource>,
    new: Option<&Resource>,
) {
    let all = |resource: Option<&Resource>| {
        resource.map(|resource| entries(id, resource)).unwrap_or_default()
    };
    let (old, new) = (all(old), all(new));
    old.difference(&new).for_each(|entry| tx.delete(entry.clone()));
    new.difference(&old).for_each(|entry| tx.mark(entry.clone()));
}
