//! What a collection held, one by one.

use super::AsOf;
use super::collection::PastEntry;
use super::now::Now;
use super::resource::Found;
use super::since::{Names, Revisions};
use crate::access::Operation;
use crate::model::{Name, Resource, ResourceId, StorePath};
use crate::{Caller, Result};

/// Something that a collection held, whether the caller may see it or not.
pub(super) enum Entry {
    /// It is still in the catalog.
    Found(Found),
    /// It was removed permanently. `seen` tells whether the caller could see it, where it was and where it was last.
    Gone { lost: PastEntry, seen: bool },
}

impl Entry {
    /// The path that it had.
    pub(super) fn path(&self) -> &StorePath {
        match self {
            Self::Found(found) => &found.path,
            Self::Gone { lost, .. } => lost.path(),
        }
    }

    /// Its id, if it is still in the catalog.
    pub(super) fn existing(&self) -> Option<ResourceId> {
        match self {
            Self::Found(found) => Some(found.chain.id()),
            Self::Gone { .. } => None,
        }
    }

    pub(super) fn is_seen(&self, caller: &Caller) -> bool {
        match self {
            Self::Found(found) => found.rights(caller).allow(Operation::Stat),
            Self::Gone { seen, .. } => *seen,
        }
    }
}

impl AsOf<'_> {
    /// What a collection held under a name.
    pub(super) fn entry(
        &self,
        above: &Found,
        (name, id): (String, ResourceId),
        resource: Option<Resource>,
        names: &Names,
    ) -> Result<Entry> {
        let path = above.path.child(Name::trusted(name));
        if let Some(resource) = resource {
            let found = self.found_in(above, id, resource, path.clone())?;
            if !found.now.is_gone() {
                return Ok(Entry::Found(found));
            }
        }
        let seen = self.saw_removed(&above.chain, id, names)?;
        Ok(Entry::Gone { lost: PastEntry::Lost { id, path }, seen })
    }

    /// A resource in a collection that it was in. Where it and all above it are where they were, that says where it is now.
    fn found_in(
        &self,
        above: &Found,
        id: ResourceId,
        resource: Resource,
        path: StorePath,
    ) -> Result<Found> {
        let in_place = above.in_place && resource.parent == above.chain.id();
        let chain = above.chain.child(id, resource);
        let now = match in_place {
            true => Now::Tree(chain.clone()),
            false => Now::of(self.view, id)?,
        };
        Ok(Found { chain, path, now, in_place })
    }

    /// What a resource was like, if the caller may see it.
    pub(super) fn shown(&self, found: &Found, revisions: &Revisions) -> Result<Option<PastEntry>> {
        if !found.rights(self.caller).allow(Operation::Stat) {
            return Ok(None);
        }
        let (id, path) = (found.chain.id(), found.path.clone());
        let kept = self.state(found, revisions)?;
        Ok(Some(kept.map_or(PastEntry::Lost { id, path }, |past| PastEntry::Kept(Box::new(past)))))
    }
}
