//! Removing: the resource leaves the tree in one commit, with everything below it. It is kept for a while (`trash`), or swept
//! by a job of bounded commits, which a restart resumes.

use std::time::Duration;

use crate::access::{Chain, Operation};
use crate::catalog::{JobRecord, Transaction, keys};
use crate::model::{At, Resource, ResourceId};
use crate::resources::{self, count, has_children, is_undigested, unlink};
use crate::resources::{find, members, put_aside};
use crate::trash::{TrashItem, retention};
use crate::{Caller, Error, ErrorKind, Result, Store, metadata, notes, people, quotas, versions};

/// How to remove.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoveOptions {
    /// With everything below.
    pub recursive: bool,
    /// With the versions of it and of everything below. Otherwise resources with versions are not removed, unless they are
    /// kept with them.
    pub versions: bool,
    /// Permanently, whatever the settings of the collections above.
    pub permanent: bool,
    /// For how long it is kept if no collection above has a setting; none to remove it at once then.
    pub keep: Option<Duration>,
    /// Only if the state, the content or the membership has this tag.
    pub if_match: Option<String>,
}

impl Store {
    /// Removes a resource. Needs `Rights::REMOVE` on it; that right on a
    /// collection covers everything below. If the nearest collection with a setting keeps removed resources, it can
    /// be restored for that long.
    ///
    /// # Errors
    /// [`ErrorKind::NotEmpty`] if there are children and it is not recursive, or if versions would be lost and they are
    /// not named.
    pub fn remove(
        &self,
        caller: &Caller,
        at: &At,
        options: &RemoveOptions,
    ) -> Result<Option<TrashItem>> {
        let (kept, is_job) = self.transact_at(at, |tx| {
            tx.frees_space();
            let chain = find(tx, caller, at, Operation::Remove)?;
            resources::check_removal(tx, options.if_match.as_deref(), &chain)?;
            let children = has_children(tx, chain.id())?;
            if children && !options.recursive {
                return Err(not_empty(at));
            }
            refuse_root(&chain)?;
            if let Some(retention) = kept_for(&chain, options) {
                let kept = self.keep_removed(tx, caller, chain, retention, children)?;
                return Ok((Some(kept), children));
            }
            if !options.versions {
                versions::refuse_loss(tx, &chain)?;
            }
            if children && !options.versions {
                versions::refuse_loss_below(&self.view()?, &chain)?;
            }
            match children {
                false => remove_leaf(tx, caller, chain)?,
                true => self.remove_tree(tx, caller, chain)?,
            }
            Ok((None, children))
        })?;
        if is_job {
            // No caller could have seen it before the commit.
            self.inner.work.notify_one();
        }
        Ok(kept)
    }

    fn remove_tree(&self, tx: &mut Transaction, caller: &Caller, chain: Chain) -> Result<()> {
        let id = chain.id();
        put_aside(tx, id, chain.into_resource(), caller.user())?;
        tx.put(keys::job(self.new_id()?), &JobRecord::Sweep(id));
        Ok(())
    }

    /// Removes what a move replaces, which has no children; returns how the trash keeps it.
    pub(super) fn remove_replaced(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        target: Chain,
        versions: bool,
    ) -> Result<Option<TrashItem>> {
        refuse_root(&target)?;
        if has_children(tx, target.id())? {
            return Err(not_empty(&At::Id(target.id())));
        }
        if let Some(retention) = retention(&target) {
            return self.keep_removed(tx, caller, target, retention, false).map(Some);
        }
        if !versions {
            versions::refuse_loss(tx, &target)?;
        }
        remove_leaf(tx, caller, target)?;
        Ok(None)
    }
}

/// How long a removed resource is kept: according to the nearest collection with a setting, or to the caller if there is none.
fn kept_for(chain: &Chain, options: &RemoveOptions) -> Option<Duration> {
    let unsaid = || chain.resources().all(|resource| resource.keep_removed.is_none());
    match options.permanent {
        true => None,
        false => retention(chain).or_else(|| options.keep.filter(|_| unsaid())),
    }
}

/// Removes a resource that has no children.
fn remove_leaf(tx: &mut Transaction, caller: &Caller, chain: Chain) -> Result<()> {
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
    resources::update_references(tx, id, Some(resource), None);
    resources::update_grants(tx, id, Some(resource), None);
    members::erase(tx, id, resource);
    versions::erase(tx, id, resource)?;
    quotas::erase(tx, id, resource);
    metadata::erase(tx, id.0)?;
    notes::erase(tx, id)?;
    people::erase_tickets(tx, id)
}

fn refuse_root(chain: &Chain) -> Result<()> {
    match chain.id() == ResourceId::ROOT {
        true => Err(Error::invalid("the root cannot be removed or replaced")),
        false => Ok(()),
    }
}

fn not_empty(at: &At) -> Error {
    Error::new(ErrorKind::NotEmpty, format!("the collection is not empty: {at}"))
        .with_hint("remove it recursively, with its contents")
}
