//! Writing a resource as another one was.

use crate::Result;
use crate::access::Chain;
use crate::catalog::{Reads, Transaction, VersionAttributes, VersionRecord, keys};
use crate::metadata::{self, Stored};
use crate::model::{Name, PersonId, Resource, ResourceId, StorePath};
use crate::past::Past;
use crate::resources::owned_resource;
use crate::{Store, versions};

/// Whether a state that was read on an earlier snapshot is still where it was found: the commit of this transaction then has it, too.
pub(super) fn is_current(tx: &Transaction, past: &Past) -> Result<bool> {
    if let Some(version) = past.version {
        let record = tx.get::<VersionRecord>(&keys::version(past.id, version))?;
        return Ok(record.is_some_and(|record| record.content == past.content));
    }
    let resource = tx.get::<Resource>(&keys::resource(past.id))?;
    let described = past.attributes.as_ref().map(|was| (was.described, was.owner, was.mode));
    Ok(resource.is_some_and(|resource| {
        let is = VersionAttributes::of(&resource);
        resource.content == past.content && described == Some((is.described, is.owner, is.mode))
    }))
}

impl Store {
    /// A record for a new child of a collection, owned by `owner` and created by `by`, with the attributes of another resource.
    pub(super) fn as_it_was(
        &self,
        tx: &Transaction,
        (owner, by): (PersonId, PersonId),
        (collection, name): (&Chain, Name),
        past: &Past,
    ) -> Result<Resource> {
        let made = owned_resource(tx, owner, collection, name, past.kind);
        let mut resource = Resource { created_by: by, modified_by: by, ..made };
        if let Some(was) = &past.attributes {
            (resource.mode, resource.mtime) = (was.mode, was.mtime);
            resource.target.clone_from(&was.target);
        }
        resource.content.clone_from(&past.content);
        if let Some(source) = tx.get::<Resource>(&keys::resource(past.id))? {
            let placement = match past.version {
                Some(_) => self.placement_after_replacement(tx, &source, past.content.as_ref())?,
                None => source.placement,
            };
            resource.placement = placement.of_copy(tx.now());
        }
        Ok(resource)
    }
}

/// Gives a new resource, which will be at this path, the former description of another one. Returns whether it has links.
pub(super) fn describe(
    tx: &mut Transaction,
    (id, path): (ResourceId, &StorePath),
    past: &Past,
) -> Result<bool> {
    let graph = versions::description_of(tx, past.id, past.version)?;
    let own = |target| Ok((target == past.id).then(|| (id, path.clone())));
    let graph = metadata::relinked(graph, own)?;
    metadata::replace(tx, id.0, &Stored::default(), &graph)?;
    Ok(metadata::has_links(&graph))
}
