//! Restoring: one commit that moves the removed resource back, whatever hangs below.

use crate::access::{Chain, Operation, Slot, VacantSlot};
use crate::catalog::{Reads, Transaction, TrashRecord};
use crate::model::{At, Name, Resource, ResourceId, Stat, StorePath};
use crate::quotas::{Crossing, cross, landed};
use crate::resources::{locate, require_collection, require_depth, split, take_back};
use crate::{Act, Caller, Error, ErrorKind, Result, Store};

/// How to restore.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoreOptions {
    /// Where to, if not to the collection that it was in.
    pub to: Option<StorePath>,
    /// Create missing parent collections.
    pub parents: bool,
}

impl Store {
    /// Restores a removed resource, with everything below it, to where it was, or to another path. The caller must have removed it or
    /// control its former collection; this needs `Rights::REMOVE` on it, and `Rights::CREATE` at the target.
    ///
    /// # Errors
    /// [`ErrorKind::Exists`] if the name is taken, [`ErrorKind::NotFound`] if nothing of this id can be restored, or if the collection
    /// is gone and `parents` is not set.
    pub fn restore_removed(
        &self,
        caller: &Caller,
        id: ResourceId,
        options: &RestoreOptions,
    ) -> Result<Stat> {
        caller.require(Act::Trash)?;
        self.transact_move(|tx, mark| {
            let (record, chain) = super::find(tx, caller, id, Operation::Remove)?;
            let path = destination(tx, &chain, &record, options)?;
            let free = match Slot::find(tx, caller, &path, options.parents) {
                Ok(Slot::Occupied(_)) => return Err(taken(&path)),
                Ok(Slot::Vacant(free)) => free,
                Err(error) if error.kind() == ErrorKind::Exists => return Err(taken(&path)),
                Err(error) if error.kind() == ErrorKind::NotFound => return Err(gone(&path)),
                Err(error) => return Err(error),
            };
            if let Crossing::CountFirst(top) =
                cross(tx, (id, chain.resource()), free.above.id(), mark)?
            {
                return Ok(Crossing::CountFirst(top));
            }
            let (collection, name) = self.place_for(tx, caller, free)?;
            let depth = collection.depth() + 1;
            if depth > chain.depth() {
                require_depth(&self.view()?, &chain, depth)?;
            }
            let old = chain.into_resource();
            let (parent, name) = (collection.id(), name.as_str().to_owned());
            let new = Resource { parent, name, counting: landed(tx, &old), ..old.clone() };
            super::forget(tx, id, &record);
            take_back(tx, id, &old, &new, caller.user());
            Ok(Crossing::Done(Stat { id, path, resource: new }))
        })
    }

    fn place_for(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        free: VacantSlot,
    ) -> Result<(Chain, Name)> {
        let (collection, name) = self.make_parents(tx, caller, free)?;
        require_collection(&collection)?;
        Ok((collection, name))
    }
}

/// The target: the given path, its collection wherever that is now, or its former path.
fn destination(
    reads: &impl Reads,
    chain: &Chain,
    record: &TrashRecord,
    options: &RestoreOptions,
) -> Result<StorePath> {
    let path = match (&options.to, locate(reads, &At::Id(record.parent))?) {
        (Some(to), _) => to.clone(),
        (None, Some(collection)) => {
            let name = Name::new(chain.resource().name.clone())?;
            collection.path().join(name)?
        }
        (None, None) => record.path.parse()?,
    };
    split(&path)?;
    Ok(path)
}

fn taken(path: &StorePath) -> Error {
    Error::exists(path).with_hint("restore it under another path (`--to PATH`)")
}

fn gone(path: &StorePath) -> Error {
    Error::new(ErrorKind::NotFound, format!("the collection to restore into does not exist: {path}"))
        .with_hint("restore it under another path (`--to PATH`), or create the missing collections (`--parents`)")
}
