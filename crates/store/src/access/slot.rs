//! What a path or an id names to a caller who is about to make or replace something there.
//!
//! Invariant: a resource that the caller may not see is answered for as if it were missing, here and in
//! [`find`](crate::resources::find). The only thing that reveals it is that its name is taken, which is disclosed only to
//! those who may create in its collection.

use super::{Chain, Operation};
use crate::catalog::Reads;
use crate::model::{At, Name, StorePath};
use crate::resources::{locate, require_collection, split, trace};
use crate::{Caller, Error, Result};

/// What a path names.
pub(crate) enum Slot {
    /// A resource that the caller may see.
    Occupied(Chain),
    /// Nothing: a resource can be created there.
    Vacant(VacantSlot),
}

/// Where the caller may make something.
pub(crate) struct VacantSlot {
    /// The collection in which they may create.
    pub(crate) above: Chain,
    /// The names of the collections that are missing below it.
    pub(crate) missing: Vec<Name>,
    /// The name of the resource to create.
    pub(crate) name: Name,
}

impl Slot {
    /// The target of a path or an id. An id cannot refer to something to be created.
    ///
    /// # Errors
    /// Those of [`find`](Self::find); [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if nothing with this id is seen.
    pub(crate) fn of(reads: &impl Reads, caller: &Caller, at: &At, parents: bool) -> Result<Self> {
        if !matches!(at, At::Id(_)) {
            return Self::find(reads, caller, &destination(reads, caller, at)?, parents);
        }
        let seen = locate(reads, at)?.filter(|chain| !chain.rights(caller).is_empty());
        seen.map(Self::Occupied).ok_or_else(|| Error::not_found(at))
    }

    /// Looks at a path. With `parents`, collections on the way may be missing.
    ///
    /// # Errors
    /// If nothing is seen there, those of [`Chain::require`] for creating in the collection above; and
    /// [`ErrorKind::Exists`](crate::ErrorKind::Exists) if the name of a parent is taken by something hidden.
    pub(crate) fn find(
        reads: &impl Reads,
        caller: &Caller,
        path: &StorePath,
        parents: bool,
    ) -> Result<Self> {
        let met = trace(reads, path)?;
        let seen = |depth| {
            let chain = met.as_ref().and_then(|met: &Chain| met.above(depth));
            chain.filter(|chain| !chain.rights(caller).is_empty())
        };
        let names = path.names();
        if let Some(chain) = seen(names.len()) {
            return Ok(Self::Occupied(chain));
        }
        StorePath::check_depth(names.len())?;
        let (collection, name) = split(path)?;
        let highest = if parents { 0 } else { collection.names().len() };
        let above = (highest..names.len()).rev().find_map(seen);
        let above = above.ok_or_else(|| Error::not_found(prefix(path, highest)))?;
        let depth = above.depth();
        require_room(&above, caller, prefix(path, depth))?;
        match met.is_some_and(|met| met.depth() > depth) {
            true => Err(Error::exists(prefix(path, depth + 1)).with_hint("choose another name")),
            false => Ok(Self::Vacant(VacantSlot {
                above,
                missing: collection.names()[depth..].to_vec(),
                name,
            })),
        }
    }
}

/// The path of the resource to create: the given one, or that of a name in a collection that the caller sees, wherever
/// it is.
///
/// # Errors
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if no collection with this id is seen; [`ErrorKind::Invalid`](crate::ErrorKind::Invalid)
/// for an id alone, which cannot refer to something to be created.
pub(crate) fn destination(reads: &impl Reads, caller: &Caller, to: &At) -> Result<StorePath> {
    match to {
        At::Path(path) => Ok(path.clone()),
        At::Child(id, name) => {
            let collection = At::Id(*id);
            let seen = locate(reads, &collection)?.filter(|it| !it.rights(caller).is_empty());
            let chain = seen.ok_or_else(|| Error::not_found(&collection))?;
            require_collection(&chain)?;
            chain.path().join(name.clone())
        }
        At::Id(_) => Err(Error::invalid(format!("nothing can be created at {to}"))
            .with_hint("give a path, or the id of a collection and a name in it")),
    }
}

/// Refuses unless something can be made in a resource.
fn require_room(above: &Chain, caller: &Caller, path: StorePath) -> Result<()> {
    above.require(caller, Operation::Create, &At::from(path))?;
    require_collection(above)
}

/// The path of the first so many names of a path.
fn prefix(path: &StorePath, depth: usize) -> StorePath {
    StorePath::trusted(path.names()[..depth].to_vec())
}
