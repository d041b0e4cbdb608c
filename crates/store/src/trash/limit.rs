//! The limit of a collection for the bytes of resources removed below it: the oldest are purged first.
//!
//! Invariant: a removed resource counts for the nearest collection that had a limit when it was removed. How many bytes that one keeps is
//! read when upkeep looks, so that a limit that is changed holds for what was removed before.
//!
//! Cost: an entry, a record and a counter for each collection with a limit that anything counts for.

use cenote_kv::KeyRange;

use super::purge::Gone;
use crate::access::Chain;
use crate::catalog::keys::{self, Counter};
use crate::catalog::{Reads, View};
use crate::model::{Resource, ResourceId};
use crate::{ErrorKind, Result, Store};

/// The nearest collection with a limit.
pub(crate) fn limited_by(chain: &Chain) -> Option<ResourceId> {
    let mut limits = chain.links().filter(|(_, resource)| resource.keep_removed_bytes.is_some());
    limits.next().map(|(id, _)| id)
}

impl Store {
    /// Removes for good what exceeds the limits of collections; returns the number of resources, not counting those below them.
    pub fn purge_over_limits(&self) -> Result<u64> {
        let mut gone = Gone::default();
        for collection in limited(&self.view()?)? {
            let excess = excess(&self.view()?, collection)?;
            gone += self.purge_bytes(keys::limited_by(collection), excess)?;
        }
        Ok(gone.items)
    }
}

/// The collections for whose limits anything counts.
fn limited(view: &View) -> Result<Vec<ResourceId>> {
    let (mut range, mut found) = (keys::all_limited(), Vec::new());
    while let Some((key, _)) = view.rows(&range, 1)?.pop() {
        let collection = ResourceId(keys::first_id(&key).unwrap_or_default());
        found.push(collection);
        let Some(start) = keys::limited_by(collection).end else { break };
        range = KeyRange { start, ..range };
    }
    Ok(found)
}

/// How many bytes more are kept than the collection allows; none if it no longer has a limit, or its record is damaged.
fn excess(view: &View, collection: ResourceId) -> Result<u64> {
    let limit = match view.get::<Resource>(&keys::resource(collection)) {
        Ok(resource) => resource.and_then(|resource| resource.keep_removed_bytes),
        Err(error) if error.kind() == ErrorKind::Damaged => None,
        Err(error) => return Err(error),
    };
    let kept = view.counter(collection.0, Counter::Removed)?.max(0).unsigned_abs();
    Ok(limit.map_or(0, |limit| kept.saturating_sub(limit)))
}
