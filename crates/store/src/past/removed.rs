//! Who could see what was removed permanently. It has no place any more; the feed has its last one.

use std::iter::once;
use std::rc::Rc;

use super::AsOf;
use super::since::Names;
use crate::Result;
use crate::access::{Chain, Operation, decide, parent_before};
use crate::catalog::{Reads, keys};
use crate::model::{Access, Resource, ResourceId, StorePath};

/// The access lists of a collection and of those above it, the innermost first: as they are, or were when these were removed.
#[derive(Debug, Default)]
pub(super) struct Above {
    lists: Vec<(ResourceId, Access)>,
    /// Whether they are known up to the root.
    is_complete: bool,
}

impl AsOf<'_> {
    /// Whether the caller could see a resource that was removed permanently: by the access list that it had last, in the collection
    /// that it was in at the moment (`above`), and in the one that it was in last. If it is not known any more what was above that, the
    /// former place decides.
    pub(super) fn saw_removed(&self, above: &Chain, id: ResourceId, names: &Names) -> Result<bool> {
        let Some(last) = names.last_of(id) else { return Ok(false) };
        if !above.rights_below(self.caller, id, &last.access).allow(Operation::Stat) {
            return Ok(false);
        }
        let place = self.above_last(last.parent, names)?;
        let lists = place.lists.iter().map(|(id, access)| (*id, access));
        let lists: Vec<_> = once((id, &last.access)).chain(lists).collect();
        Ok(!place.is_complete || decide(self.caller, &lists).allow(Operation::Stat))
    }

    /// The same for all that was last in a collection: read once.
    fn above_last(&self, collection: ResourceId, names: &Names) -> Result<Rc<Above>> {
        if let Some(above) = self.above.borrow().get(&collection) {
            return Ok(above.clone());
        }
        let above = Rc::new(self.read_above(collection, names)?);
        self.above.borrow_mut().insert(collection, above.clone());
        Ok(above)
    }

    fn read_above(&self, collection: ResourceId, names: &Names) -> Result<Above> {
        let (mut above, mut next) = (Above::default(), collection);
        while above.lists.len() <= StorePath::MOST_NAMES {
            let Some((access, parent)) = self.last_place(next, names)? else { break };
            above.lists.push((next, access));
            if next == ResourceId::ROOT {
                above.is_complete = true;
                break;
            }
            next = parent;
        }
        Ok(above)
    }

    /// The access list and the parent of a collection, which may be in the trash, or removed permanently.
    fn last_place(&self, id: ResourceId, names: &Names) -> Result<Option<(Access, ResourceId)>> {
        if let Some(resource) = self.view.get::<Resource>(&keys::resource(id))? {
            let parent = match id {
                ResourceId::ROOT => Some(id),
                _ => parent_before(self.view, id, &resource)?,
            };
            if let Some(parent) = parent {
                return Ok(Some((resource.access, parent)));
            }
        }
        let last = names.last_of_collection(self.view, self.cut, id)?;
        Ok(last.map(|last| (last.access.clone(), last.parent)))
    }
}
