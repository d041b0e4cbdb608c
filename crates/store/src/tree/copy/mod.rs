//! Copying: contents are shared, not copied. A collection is copied one by one, each child a
//! commit of its own, in path order, and links between the copies at the end; a copy that is interrupted can be run again.

mod links;

use self::links::{Copied, of_copy};
use crate::access::{Chain, Operation, Slot, destination};
use crate::catalog::{ChangeKind, Reads, Transaction};
use crate::metadata::Stored;
use crate::model::{At, Changed, Kind, ResourceId, Stat, StorePath};
use crate::resources::{Walk, count_change, find, insert, require_depth, update};
use crate::resources::{new_resource, split};
use crate::{Caller, Conditions, Error, ErrorKind, Notes, Result, Store, metadata, versions};

/// How to copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopyOptions {
    /// Give an existing object the content and description of the source.
    pub replace: bool,
    /// Create missing parent collections.
    pub parents: bool,
    /// With everything below.
    pub recursive: bool,
    /// Conditions on the target; for a tree, only on its top.
    pub conditions: Conditions,
}

impl Store {
    /// Copies a resource with its content and description, not its access, versions or
    /// tickets. Needs [`Rights::READ_OBJECT`] on it and [`Rights::CREATE`] at the target.
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
        let (top, links) = self.copy_one(caller, source.id(), &at, &options)?;
        if source.resource().kind == Kind::Collection {
            let walk = Walk::below(&view, caller, source);
            self.copy_below(caller, walk, options, (&above, &top, links))?;
        }
        Ok(top)
    }

    /// Copies everything that a walk finds below a collection whose copy exists.
    fn copy_below(
        &self,
        caller: &Caller,
        mut walk: Walk<'_>,
        options: CopyOptions,
        (above, top, links): (&StorePath, &Stat, bool),
    ) -> Result<()> {
        let options = CopyOptions { conditions: Conditions::default(), ..options };
        let mut linking = Vec::from_iter(links.then_some(top.id));
        while let Some(entry) = walk.step()? {
            let target = At::Path(rebase(&entry.path, above, &top.path)?);
            let (copy, links) = self.copy_one(caller, entry.id, &target, &options)?;
            linking.extend(links.then_some(copy.id));
        }
        let copied = Copied { from: above, to: &top.path };
        linking.into_iter().try_for_each(|copy| copied.relink(self, caller, copy))
    }

    /// Copies a resource other than a collection, with a change of an opening's notes in the same commit: if that is refused, nothing is
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
            let (stat, _) = self.copy_in(tx, caller, &source, to, options)?;
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
    ) -> Result<(Stat, bool)> {
        self.transact(|tx| {
            let source = copyable(tx, caller, &source.into())?;
            let path = destination(tx, caller, to)?;
            split(&path)?;
            self.copy_in(tx, caller, &source, &path, options)
        })
    }

    /// Copies one resource; returns the copy, and whether its description has links.
    fn copy_in(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        source: &Chain,
        to: &StorePath,
        options: &CopyOptions,
    ) -> Result<(Stat, bool)> {
        let free = match Slot::find(tx, caller, to, options.parents)? {
            Slot::Occupied(target) => {
                options.conditions.check_content(Some(&target))?;
                return self.copy_over(tx, caller, source, target, (to, options));
            }
            Slot::Vacant(free) => free,
        };
        options.conditions.check_content(None)?;
        let (collection, name) = self.make_parents(tx, caller, free)?;
        let from = source.resource();
        let mut resource = new_resource(tx, caller, &collection, name, from.kind);
        resource.content.clone_from(&from.content);
        resource.placement = from.placement.of_copy(tx.now());
        resource.target.clone_from(&from.target);
        (resource.mode, resource.mtime) = (from.mode, from.mtime);
        let id = ResourceId(self.new_id()?);
        insert(tx, id, &resource);
        let graph = of_copy(tx, source, (id, to))?;
        metadata::replace(tx, id.0, &Stored::default(), &graph)?;
        Ok((Stat { id, path: to.clone(), resource }, metadata::has_links(&graph)))
    }

    fn copy_over(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        source: &Chain,
        target: Chain,
        (to, options): (&StorePath, &CopyOptions),
    ) -> Result<(Stat, bool)> {
        if source.id() == target.id() || source.resource().kind != target.resource().kind {
            return Err(Error::exists(to));
        }
        if source.resource().kind == Kind::Collection && options.recursive {
            let links = metadata::has_links(&metadata::read(tx, target.id().0)?);
            return Ok((target.into(), links));
        }
        if !options.replace {
            return Err(Error::exists(to).with_hint("allow it to be replaced"));
        }
        target.require(caller, Operation::Replace, &to.into())?;
        let from = source.resource();
        let mut stat = Stat::from(target.clone());
        let old = Stored::read(tx, stat.id.0)?;
        let graph = of_copy(tx, source, (stat.id, to))?;
        let change = Some(old.redescribed(&graph));
        versions::keep_replaced(tx, caller, &target, &mut stat.resource, change)?;
        stat.resource.placement =
            self.placement_after_replacement(tx, target.resource(), from.content.as_ref())?;
        stat.resource.content.clone_from(&from.content);
        stat.resource.target.clone_from(&from.target);
        (stat.resource.mode, stat.resource.mtime) = (from.mode, from.mtime);
        count_change(tx, &mut stat.resource, Changed::ContentAndDescription, caller.user());
        update(tx, ChangeKind::Written, stat.id, target.resource(), &stat.resource);
        metadata::replace(tx, stat.id.0, &old, &graph)?;
        Ok((stat, metadata::has_links(&graph)))
    }
}

fn refuse_collection(source: &Chain, from: &At) -> Result<()> {
    match source.resource().kind {
        Kind::Collection => Err(Error::new(ErrorKind::WrongKind, format!("a collection: {from}"))
            .with_hint("copy recursively to copy a collection")),
        _ => Ok(()),
    }
}

/// The resource, if the caller may copy it.
fn copyable(reads: &impl Reads, caller: &Caller, at: &At) -> Result<Chain> {
    let source = find(reads, caller, at, Operation::ReadDescription)?;
    let what = match source.resource().kind {
        Kind::Collection => Operation::List,
        _ => Operation::Read,
    };
    source.require(caller, what, at)?;
    Ok(source)
}

/// The path below `to` that corresponds to `path` below `above`.
pub(crate) fn rebase(path: &StorePath, above: &StorePath, to: &StorePath) -> Result<StorePath> {
    let below = path.names()[above.names().len()..].iter().cloned();
    StorePath::from_names(to.names().iter().cloned().chain(below).collect())
}
