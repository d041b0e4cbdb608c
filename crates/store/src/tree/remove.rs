//! Removing: the resource leaves the tree in one commit; what lies below it is swept
//! by a job of bounded commits, which a restart resumes.

use crate::access::{Chain, Operation};
use crate::catalog::keys::{self, Counter};
use crate::catalog::{JobRecord, Reads, Transaction};
use crate::model::{At, Resource, ResourceId};
use crate::tree::record::{count, is_undigested};
use crate::tree::{find, grants, members, unlink};
use crate::{Caller, Error, ErrorKind, Result, Store, contents, metadata, people, versions};

/// How to remove.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoveOptions {
    /// With all that lies below.
    pub recursive: bool,
    /// With the versions that were kept of it and of what lies below. Without this, what has versions stays.
    pub versions: bool,
    /// Only if the state, the content or the membership has this tag.
    pub if_match: Option<String>,
}

impl Store {
    /// Removes a resource. Needs `Rights::REMOVE` on it; that right on a
    /// collection covers what lies below.
    ///
    /// # Errors
    /// [`ErrorKind::NotEmpty`] if there are children and it is not recursive, or if versions would be lost and they are
    /// not named.
    pub fn remove(&self, caller: &Caller, at: &At, options: &RemoveOptions) -> Result<()> {
        let is_job = self.transact(|tx| {
            tx.frees_space();
            let chain = find(tx, caller, at, Operation::Remove)?;
            contents::check_removal(tx, options.if_match.as_deref(), &chain)?;
            let children = has_children(tx, chain.id())?;
            if children && !options.recursive {
                return Err(not_empty(at));
            }
            if !options.versions {
                versions::refuse_loss(tx, &chain)?;
            }
            if children && !options.versions {
                versions::refuse_loss_below(&self.view()?, &chain)?;
            }
            match children {
                false => remove_leaf(tx, caller, chain).map(|()| false),
                true => self.remove_tree(tx, caller, chain).map(|()| true),
            }
        })?;
        if is_job {
            // Before the commit nobody would have seen it.
            self.inner.work.notify_one();
        }
        Ok(())
    }

    fn remove_tree(&self, tx: &mut Transaction, caller: &Caller, chain: Chain) -> Result<()> {
        refuse_root(&chain)?;
        let id = chain.id();
        let mut resource = chain.into_resource();
        unlink(tx, id, &resource, caller.user());
        grants::exchange(tx, id, Some(&resource), None);
        let inside = resource.parent.0;
        tx.add(inside, Counter::Resources, -1);
        resource.parent = ResourceId::REMOVED;
        tx.add(ResourceId::REMOVED.0, Counter::Resources, 1);
        tx.put(keys::resource(id), &resource);
        tx.put(keys::job(self.new_id()?), &JobRecord::Sweep(id));
        Ok(())
    }
}

/// Removes a resource that has no children.
pub(super) fn remove_leaf(tx: &mut Transaction, caller: &Caller, chain: Chain) -> Result<()> {
    refuse_root(&chain)?;
    if has_children(tx, chain.id())? {
        return Err(not_empty(&At::Id(chain.id())));
    }
    let id = chain.id();
    let resource = chain.into_resource();
    unlink(tx, id, &resource, caller.user());
    erase(tx, id, &resource)
}

/// Deletes every record of a resource that is no longer in its collection.
pub(crate) fn erase(tx: &mut Transaction, id: ResourceId, resource: &Resource) -> Result<()> {
    tx.delete(keys::resource(id));
    count(tx, resource, -1);
    if is_undigested(resource) {
        tx.delete(keys::undigested(id));
    }
    contents::exchange(tx, id, Some(resource), None);
    grants::exchange(tx, id, Some(resource), None);
    members::erase(tx, id, resource);
    versions::erase(tx, id)?;
    metadata::erase(tx, id.0)?;
    people::erase_tickets(tx, id)
}

fn has_children(tx: &Transaction, id: ResourceId) -> Result<bool> {
    Ok(!tx.rows(&keys::children(id), 1)?.is_empty())
}

fn refuse_root(chain: &Chain) -> Result<()> {
    match chain.id() == ResourceId::ROOT {
        true => Err(Error::invalid("the root cannot be removed or replaced")),
        false => Ok(()),
    }
}

fn not_empty(at: &At) -> Error {
    Error::new(ErrorKind::NotEmpty, format!("the collection is not empty: {at}"))
        .with_hint("remove recursively to remove what is in it, too")
}
