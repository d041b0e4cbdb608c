//! Copying: contents are shared, not copied. A collection is copied one by one, each child a
//! commit of its own, in path order; a copy that is interrupted can be run again.

use crate::access::{Chain, Operation, Spot, destination};
use crate::catalog::{ChangeKind, Reads, Transaction};
use crate::metadata::Stored;
use crate::model::{At, Changed, Kind, ResourceId, Stat, StorePath};
use crate::tree::create::{new_resource, split};
use crate::tree::{Walk, count_change, find, insert, require_depth, update};
use crate::{Caller, Conditions, Error, ErrorKind, Notes, Result, Store, metadata, versions};

/// How to copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopyOptions {
    /// Give an object that is there already the content and description of the source.
    pub replace: bool,
    /// Create the collections on the way.
    pub parents: bool,
    /// With all that lies below.
    pub recursive: bool,
    /// What must hold for what is at the target; of a tree, for its top only.
    pub conditions: Conditions,
}

impl Store {
    /// Copies a resource with its content and description, not its access, versions or
    /// tickets. Needs [`Rights::READ_OBJECT`] on it and [`Rights::CREATE`] where it comes to.
    pub fn copy(
        &self,
        caller: &Caller,
        from: &At,
        to: &(impl Clone + Into<At>),
        options: CopyOptions,
    ) -> Result<Stat> {
        let (view, at) = (self.view()?, to.clone().into());
        let (source, to) = (copyable(&view, caller, from)?, destination(&view, caller, &at)?);
        if !options.recursive {
            refuse_collection(&source, from)?;
        }
        let above = source.path();
        if to.starts_with(&above) && source.resource().kind == Kind::Collection {
            return Err(Error::invalid(format!(
                "a collection cannot be copied into itself: {from}"
            )));
        }
        require_depth(&view, &source, to.names().len())?;
        let top = self.copy_one(caller, source.id(), &at, &options)?;
        if source.resource().kind == Kind::Collection {
            let below = CopyOptions { conditions: Conditions::default(), ..options };
            let mut walk = Walk::below(&view, caller, source);
            while let Some(entry) = walk.step()? {
                let target = At::Path(rebase(&entry.path, &above, &top.path)?);
                self.copy_one(caller, entry.id, &target, &below)?;
            }
        }
        Ok(top)
    }

    /// Copies what is no collection, with a change of an opening's notes in the same commit: if that is refused, nothing is
    /// copied.
    pub fn copy_with(
        &self,
        caller: &Caller,
        from: &At,
        to: &StorePath,
        options: &CopyOptions,
        (opening, also): (&str, impl Fn(&mut Notes<'_>) -> Result<()>),
    ) -> Result<Stat> {
        split(to)?;
        self.transact(|tx| {
            let source = copyable(tx, caller, from)?;
            refuse_collection(&source, from)?;
            let stat = self.copy_in(tx, caller, &source, to, options)?;
            also(&mut Notes::in_commit(tx, opening, stat.id))?;
            Ok(stat)
        })
    }

    fn copy_one(
        &self,
        caller: &Caller,
        source: ResourceId,
        to: &At,
        options: &CopyOptions,
    ) -> Result<Stat> {
        self.transact(|tx| {
            let source = copyable(tx, caller, &source.into())?;
            let path = destination(tx, caller, to)?;
            split(&path)?;
            self.copy_in(tx, caller, &source, &path, options)
        })
    }

    fn copy_in(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        source: &Chain,
        to: &StorePath,
        options: &CopyOptions,
    ) -> Result<Stat> {
        let free = match Spot::find(tx, caller, to, options.parents)? {
            Spot::Seen(target) => {
                options.conditions.check_content(Some(&target))?;
                return self.copy_over(tx, caller, source, target, (to, options));
            }
            Spot::Free(free) => free,
        };
        options.conditions.check_content(None)?;
        let (collection, name) = self.make_parents(tx, caller, free)?;
        let from = source.resource();
        let mut resource = new_resource(tx, caller, &collection, name, from.kind);
        resource.content.clone_from(&from.content);
        resource.replicas = from.replicas.of_copy(tx.now());
        resource.target.clone_from(&from.target);
        (resource.mode, resource.mtime) = (from.mode, from.mtime);
        let id = ResourceId(self.new_id()?);
        insert(tx, id, &resource);
        let graph = metadata::read(tx, source.id().0)?;
        metadata::replace(tx, id.0, &Stored::default(), &graph)?;
        Ok(Stat { id, path: to.clone(), resource })
    }

    fn copy_over(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        source: &Chain,
        target: Chain,
        (to, options): (&StorePath, &CopyOptions),
    ) -> Result<Stat> {
        if source.id() == target.id() || source.resource().kind != target.resource().kind {
            return Err(Error::exists(to));
        }
        if source.resource().kind == Kind::Collection && options.recursive {
            return Ok(target.into());
        }
        if !options.replace {
            return Err(Error::exists(to).with_hint("say that it may be replaced"));
        }
        target.require(caller, Operation::Replace, &to.into())?;
        let from = source.resource();
        let mut stat = Stat::from(target.clone());
        let old = Stored::read(tx, stat.id.0)?;
        let graph = metadata::read(tx, source.id().0)?;
        let change = Some(old.redescribed(&graph));
        versions::keep_replaced(tx, caller, &target, &mut stat.resource, change)?;
        stat.resource.replicas =
            self.replicas_after_exchange(tx, target.resource(), from.content.as_ref())?;
        stat.resource.content.clone_from(&from.content);
        stat.resource.target.clone_from(&from.target);
        (stat.resource.mode, stat.resource.mtime) = (from.mode, from.mtime);
        count_change(tx, &mut stat.resource, Changed::ContentAndDescription, caller.user());
        update(tx, ChangeKind::Written, stat.id, target.resource(), &stat.resource);
        metadata::replace(tx, stat.id.0, &old, &graph)?;
        Ok(stat)
    }
}

fn refuse_collection(source: &Chain, from: &At) -> Result<()> {
    match source.resource().kind {
        Kind::Collection => Err(Error::new(ErrorKind::WrongKind, format!("a collection: {from}"))
            .with_hint("copy recursively to copy a collection")),
        _ => Ok(()),
    }
}

/// What is there, if the caller may copy it.
fn copyable(reads: &impl Reads, caller: &Caller, at: &At) -> Result<Chain> {
    let source = find(reads, caller, at, Operation::ReadDescription)?;
    let what = match source.resource().kind {
        Kind::Collection => Operation::List,
        _ => Operation::Read,
    };
    source.require(caller, what, at)?;
    Ok(source)
}

/// The place below `to` of what lies at `path` below `above`.
fn rebase(path: &StorePath, above: &StorePath, to: &StorePath) -> Result<StorePath> {
    let below = path.names()[above.names().len()..].iter().cloned();
    StorePath::from_names(to.names().iter().cloned().chain(below).collect())
}
