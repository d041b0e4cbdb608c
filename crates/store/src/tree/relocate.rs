//! Moving: one commit, whatever hangs below.
//!
//! Invariant: the tree stays a tree. The chain of the target is evidence, so two moves
//! that would close a ring together cannot both commit.

use crate::access::{Chain, Operation, Slot, destination};
use crate::catalog::Transaction;
use crate::model::{At, Kind, Name, Resource, ResourceId, Stat, StorePath};
use crate::quotas::{Crossing, Mark, cross, landed};
use crate::resources::split;
use crate::resources::{detach, find, require_depth};
use crate::trash::TrashItem;
use crate::{Caller, Error, ErrorKind, Notes, Result, Store};

/// How to move.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MoveOptions {
    /// Replace an existing object or link, or an empty collection.
    pub replace: bool,
    /// Create missing parent collections.
    pub parents: bool,
    /// Versions of the replaced resource may be removed with it. Otherwise a resource with versions is not replaced, unless it is kept with them.
    pub versions: bool,
}

/// What a move did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relocated {
    /// The resource where it is now.
    pub stat: Stat,
    /// What it replaced, if the trash keeps that.
    pub replaced: Option<TrashItem>,
}

impl Store {
    /// Moves a resource to a path, or to a name in a collection with an id. Needs `Rights::REMOVE` on it, and on what it replaces, and
    /// `Rights::CREATE` on the target collection.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if anything moved would be deeper than [`StorePath::MAX_DEPTH`], and deeper than before;
    /// [`ErrorKind::NotEmpty`] if what it would replace has children, or versions which are not named.
    pub fn relocate(
        &self,
        caller: &Caller,
        from: &At,
        to: &(impl Clone + Into<At>),
        options: MoveOptions,
    ) -> Result<Stat> {
        Ok(self.relocate_with(caller, from, to, options, ("", |_| Ok(())))?.stat)
    }

    /// The same, with a change of an opening's notes in the commit that moves: if that is refused, nothing is moved.
    pub fn relocate_with(
        &self,
        caller: &Caller,
        from: &At,
        to: &(impl Clone + Into<At>),
        options: MoveOptions,
        (opening, also): (&str, impl Fn(&mut Notes<'_>) -> Result<()>),
    ) -> Result<Relocated> {
        let to = to.clone().into();
        self.transact_move(|tx, mark| {
            let path = destination(tx, caller, &to)?;
            split(&path)?;
            let moved = self.relocate_in(tx, caller, from, (&path, options), mark)?;
            if let Crossing::Done(moved) = &moved {
                also(&mut Notes::in_commit(tx, opening, moved.stat.id))?;
            }
            Ok(moved)
        })
    }

    fn relocate_in(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        from: &At,
        (to, options): (&StorePath, MoveOptions),
        mark: Option<&Mark>,
    ) -> Result<Crossing<Relocated>> {
        let moved = find(tx, caller, from, Operation::Move)?;
        if moved.path() == *to {
            return Ok(Crossing::Done(Relocated { stat: moved.into(), replaced: None }));
        }
        let mut replaced = None;
        let cross = |tx: &mut Transaction, to: ResourceId| {
            cross(tx, (moved.id(), moved.resource()), to, mark)
        };
        let (collection, name) = match Slot::find(tx, caller, to, options.parents)? {
            Slot::Vacant(free) => {
                check_ring(&moved, &free.above, from)?;
                if let Crossing::CountFirst(top) = cross(tx, free.above.id())? {
                    return Ok(Crossing::CountFirst(top));
                }
                self.make_parents(tx, caller, free)?
            }
            Slot::Occupied(target) => {
                let (parent, name) = split(to)?;
                let collection = find(tx, caller, &At::from(parent), Operation::Create)?;
                check_ring(&moved, &collection, from)?;
                check_replaceable(caller, &moved, &target, to, options)?;
                if let Crossing::CountFirst(top) = cross(tx, collection.id())? {
                    return Ok(Crossing::CountFirst(top));
                }
                replaced = self.remove_replaced(tx, caller, target, options.versions)?;
                (collection, name)
            }
        };
        let depth = collection.depth() + 1;
        if depth > moved.depth() {
            require_depth(&self.view()?, &moved, depth)?;
        }
        let id = moved.id();
        let resource = relink(tx, caller, moved, &collection, &name);
        let stat = Stat { id, path: to.clone(), resource };
        Ok(Crossing::Done(Relocated { stat, replaced }))
    }
}

fn check_replaceable(
    caller: &Caller,
    moved: &Chain,
    target: &Chain,
    to: &StorePath,
    options: MoveOptions,
) -> Result<()> {
    if !options.replace {
        return Err(Error::exists(to).with_hint("choose another name, or allow it to be replaced"));
    }
    target.require(caller, Operation::Move, &to.into())?;
    let collections = [moved, target].map(|chain| chain.resource().kind == Kind::Collection);
    match collections {
        [true, false] | [false, true] => Err(Error::new(
            ErrorKind::WrongKind,
            format!("a collection and a file cannot replace each other: {to}"),
        )),
        _ => Ok(()),
    }
}

fn check_ring(moved: &Chain, collection: &Chain, from: &At) -> Result<()> {
    if collection.contains(moved.id()) {
        return Err(Error::invalid(format!("a collection cannot be moved into itself: {from}")));
    }
    Ok(())
}

fn relink(
    tx: &mut Transaction,
    caller: &Caller,
    moved: Chain,
    collection: &Chain,
    name: &Name,
) -> Resource {
    let id = moved.id();
    let old = moved.into_resource();
    let (parent, name) = (collection.id(), name.as_str().to_owned());
    let new = Resource { parent, name, counting: landed(tx, &old), ..old.clone() };
    detach(tx, id, &old, &new, caller.user());
    new
}
