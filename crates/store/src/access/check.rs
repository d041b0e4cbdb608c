//! Reads the access lists that a decision needs, and refuses.

use std::sync::Arc;

use super::decide::{by_ticket, limit};
use super::{Caller, Operation, decide};
use crate::catalog::{Child, Reads, Record, TrashRecord, keys};
use crate::model::{Access, At, Name, Resource, ResourceId, Rights, StorePath, Versioning};
use crate::{Error, ErrorKind, Result};

/// A resource with the collections above it, itself first.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    links: Vec<(ResourceId, Arc<Resource>)>,
}

impl Chain {
    /// Reads upwards from `id`; nothing if it is not in the tree (any more). One call of the engine where the collections
    /// above it are remembered.
    pub(crate) fn read(reads: &impl Reads, id: ResourceId) -> Result<Option<Self>> {
        let (mut links, mut next) = (Vec::new(), id);
        while links.last().is_none_or(|(last, _)| *last != ResourceId::ROOT) {
            if links.len() > StorePath::MOST_NAMES {
                return Err(Error::invalid(format!("resource {id} is nested too deeply"))
                    .with_hint("move one of its parent collections up"));
            }
            match read_up(reads, next, &mut links)? {
                Some(parent) => next = parent,
                None => return Ok(None),
            }
        }
        Ok(Some(Self { links }))
    }

    /// The chain of the last of these resources, each of which is in the one before; nothing if there are none.
    pub(crate) fn from_root(mut links: Vec<(ResourceId, Arc<Resource>)>) -> Option<Self> {
        links.reverse();
        (!links.is_empty()).then_some(Self { links })
    }

    /// The chain of the ancestor of this resource whose path has this many names; nothing if its own has fewer.
    pub(crate) fn above(&self, depth: usize) -> Option<Self> {
        let below = self.depth().checked_sub(depth)?;
        Some(Self { links: self.links[below..].to_vec() })
    }

    /// The chain of a resource that may have been removed: above what is kept for a while comes the collection that it
    /// was in. It ends early if that no longer exists.
    pub(crate) fn read_removed(reads: &impl Reads, id: ResourceId) -> Result<Option<Self>> {
        let (mut links, mut next) = (Vec::new(), Some(id));
        while let Some(from) = next.filter(|_| links.len() <= StorePath::MOST_NAMES) {
            let read = links.len();
            read_up(reads, from, &mut links)?;
            next = match links[read..].last() {
                Some((id, resource)) => parent_before(reads, *id, resource)?,
                None => None,
            };
        }
        Ok((!links.is_empty()).then_some(Self { links }))
    }

    /// The chain of the removed ancestor to which this resource belongs, if it was removed.
    pub(crate) fn removed_top(&self) -> Option<Self> {
        let top = self.resources().position(|resource| resource.parent == ResourceId::REMOVED)?;
        Some(Self { links: self.links[top..].to_vec() })
    }

    /// The chain of a resource above which there is nothing any more.
    pub(crate) fn alone(id: ResourceId, resource: Resource) -> Self {
        Self { links: vec![(id, Arc::new(resource))] }
    }

    /// The chain of the collection above, if there is one.
    pub(crate) fn collection(&self) -> Option<Self> {
        let links = self.links.get(1..).filter(|links| !links.is_empty())?;
        Some(Self { links: links.to_vec() })
    }

    /// The resource that this is the chain of.
    pub(crate) fn id(&self) -> ResourceId {
        self.links[0].0
    }

    /// Has the resource be this one, as its transaction just wrote it.
    pub(crate) fn replace(&mut self, resource: Resource) {
        if let Some((_, own)) = self.links.first_mut() {
            *own = Arc::new(resource);
        }
    }

    pub(crate) fn resource(&self) -> &Resource {
        &self.links[0].1
    }

    pub(crate) fn into_resource(mut self) -> Resource {
        Arc::unwrap_or_clone(self.links.swap_remove(0).1)
    }

    /// The chain of a child.
    pub(crate) fn child(&self, id: ResourceId, resource: Resource) -> Self {
        let child = std::iter::once((id, Arc::new(resource)));
        Self { links: child.chain(self.links.iter().cloned()).collect() }
    }

    /// The chain of the child of this name, if there is one.
    pub(crate) fn named_child(&self, reads: &impl Reads, name: &Name) -> Result<Option<Self>> {
        let key = keys::child(self.id(), name.as_str());
        let Some(child) = reads.get::<Child>(&key)? else { return Ok(None) };
        let resource = reads.get::<Resource>(&keys::resource(child.id))?;
        Ok(resource.map(|resource| self.child(child.id, resource)))
    }

    /// Whether `id` is this resource, or a collection above it.
    pub(crate) fn contains(&self, id: ResourceId) -> bool {
        self.links.iter().any(|(link, _)| *link == id)
    }

    /// The resources from this one up to the root.
    pub(crate) fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.links.iter().map(|(_, resource)| &**resource)
    }

    /// The versioning policy of the nearest of them that has one.
    pub(crate) fn versioning(&self) -> Option<Versioning> {
        self.resources().find_map(|resource| resource.versioning)
    }

    /// The resources with their ids.
    pub(crate) fn links(&self) -> impl Iterator<Item = (ResourceId, &Resource)> {
        self.links.iter().map(|(id, resource)| (*id, &**resource))
    }

    /// How many names its path has.
    pub(crate) fn depth(&self) -> usize {
        self.links.len() - 1
    }

    pub(crate) fn path(&self) -> StorePath {
        let names = self.links.iter().rev().skip(1);
        let names = names.map(|(_, resource)| Name::trusted(resource.name.as_str()));
        StorePath::trusted(names.collect())
    }

    /// What `caller` may do with the resource.
    pub(crate) fn rights(&self, caller: &Caller) -> Rights {
        decide(caller, &self.lists().collect::<Vec<_>>())
    }

    /// What `caller` may do with a child of this collection.
    pub(crate) fn rights_of_child(
        &self,
        caller: &Caller,
        id: ResourceId,
        child: &Resource,
    ) -> Rights {
        self.rights_below(caller, id, &child.access)
    }

    /// The same by an access list, for a child that may have been deleted.
    pub(crate) fn rights_below(&self, caller: &Caller, id: ResourceId, child: &Access) -> Rights {
        let lists = std::iter::once((id, child)).chain(self.lists());
        decide(caller, &lists.collect::<Vec<_>>())
    }

    pub(super) fn lists(&self) -> impl Iterator<Item = (ResourceId, &Access)> {
        self.links.iter().map(|(id, resource)| (*id, &resource.access))
    }

    /// Whether the caller's credential, or their ticket, leaves them any rights here, whatever they are granted.
    pub(crate) fn is_open_to(&self, caller: &Caller) -> bool {
        let lists: Vec<_> = self.lists().collect();
        !limit(caller, &lists).union(by_ticket(caller, &lists)).is_empty()
    }

    /// Refuses unless `caller` may do this. For callers who may not even see it, it is missing.
    pub(crate) fn require(&self, caller: &Caller, operation: Operation, at: &At) -> Result<()> {
        refuse(caller, self.rights(caller), operation, at)
    }
}

/// Refuses if these rights are not enough. For callers who may not even see it, it is missing.
pub(crate) fn refuse(caller: &Caller, rights: Rights, operation: Operation, at: &At) -> Result<()> {
    match rights {
        rights if rights.allow(operation) => Ok(()),
        Rights::NONE => Err(Error::not_found(at)),
        rights => Err(denied(caller, operation.needs(), rights, at)),
    }
}

/// Reads a resource, and in the same call those above it according to hints. Returns the parent of the last one of
/// them that is still right; nothing if it is not there.
fn read_up(
    reads: &impl Reads,
    from: ResourceId,
    links: &mut Vec<(ResourceId, Arc<Resource>)>,
) -> Result<Option<ResourceId>> {
    let ids = reads.edges().up(from);
    let keys: Vec<_> = ids.iter().map(|id| keys::resource(*id)).collect();
    let mut next = from;
    for (at, value) in reads.look(&keys)?.into_iter().enumerate() {
        reads.rest_on(&keys[at]);
        let Some(value) = value else { return Ok(None) };
        let resource = Resource::from_value(&value)?;
        next = resource.parent;
        links.push((ids[at], Arc::new(resource)));
        if ids.get(at + 1) != Some(&next) {
            if ids[at] != ResourceId::ROOT {
                reads.edges().remember_parent(ids[at], next);
            }
            break;
        }
    }
    Ok(Some(next))
}

/// The current collection of a resource, or the former one of a removed resource.
fn parent_before(
    reads: &impl Reads,
    id: ResourceId,
    resource: &Resource,
) -> Result<Option<ResourceId>> {
    match resource.parent {
        _ if id == ResourceId::ROOT => Ok(None),
        ResourceId::REMOVED => {
            Ok(reads.get::<TrashRecord>(&keys::trash(id))?.map(|record| record.parent))
        }
        parent => Ok(Some(parent)),
    }
}

fn denied(caller: &Caller, needed: Rights, rights: Rights, at: &At) -> Error {
    let name = caller.name();
    Error::new(ErrorKind::Denied, format!("{name} needs {needed} and has {rights}: {at}"))
        .with_hint("ask its owner for access (`cenote acl set`), or log in as another user")
}
