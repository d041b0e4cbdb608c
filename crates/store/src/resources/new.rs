//! Records of new resources, and where they go.

use crate::access::Chain;
use crate::catalog::Transaction;
use crate::model::{Access, Kind, Name, PersonId, Resource, Rights, Scope, StorePath};
use crate::{Caller, Error, ErrorKind, Result};

/// Refuses what has no children.
pub(crate) fn require_collection(chain: &Chain) -> Result<()> {
    match chain.resource().kind {
        Kind::Collection => Ok(()),
        _ => Err(Error::new(ErrorKind::WrongKind, format!("not a collection: {}", chain.path()))),
    }
}

/// The collection and the name of a path that is not `/`.
pub(crate) fn split(path: &StorePath) -> Result<(StorePath, Name)> {
    let (parent, name) = path
        .split_last()
        .ok_or_else(|| Error::exists("/").with_hint("give the name of what to create"))?;
    Ok((parent, name.clone()))
}

/// A record for a new child of `collection`, with the access its creator and the collection give it.
pub(crate) fn new_resource(
    tx: &Transaction,
    caller: &Caller,
    collection: &Chain,
    name: Name,
    kind: Kind,
) -> Resource {
    let owner = caller.owner_in(collection);
    let by = caller.user();
    let resource = owned_resource(tx, owner, collection, name, kind);
    Resource { created_by: by, modified_by: by, ..resource }
}

/// A record for a new child of `collection` that belongs to `owner`.
pub(crate) fn owned_resource(
    tx: &Transaction,
    owner: PersonId,
    collection: &Chain,
    name: Name,
    kind: Kind,
) -> Resource {
    let access = first_access(owner, &collection.resource().access);
    Resource { access, ..Resource::new(collection.id(), &name, kind, owner, tx.now()) }
}

/// The creator owns it, unless the collection says otherwise; a collection that passes its grants on does so now.
fn first_access(creator: PersonId, above: &Access) -> Access {
    let no_creator = above.no_creator.filter(|is_so| *is_so);
    let mut access = Access { inherit: above.inherit, no_creator, ..Access::default() };
    if above.inherit {
        access.grants = above.grants.iter().filter(|g| g.scope == Scope::This).cloned().collect();
    }
    if no_creator.is_none() {
        access.set(creator, Rights::OWN, Scope::This);
    }
    access
}
