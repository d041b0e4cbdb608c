//! What the caller may see, remembered for as long as one query runs.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use crate::access::{Chain, Operation};
use crate::catalog::{Reads, View, keys};
use crate::model::{Name, Resource, ResourceId, StorePath};
use crate::{Caller, Result};

/// A resource that the caller may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleResource {
    /// Its id.
    pub id: ResourceId,
    /// Its record.
    pub resource: Resource,
    /// Whether the caller may list its children.
    pub may_list: bool,
}

/// So many resources are remembered; then all are forgotten.
const REMEMBERED: usize = 16_384;

pub(super) struct Sight<'a> {
    view: &'a View,
    caller: &'a Caller,
    seen: RefCell<HashMap<ResourceId, Option<Rc<VisibleResource>>>>,
    /// Collections with those above them; none of those that were removed.
    chains: RefCell<HashMap<ResourceId, Option<Rc<Collection>>>>,
    states_of_others: OnceCell<bool>,
}

struct Collection {
    chain: Chain,
    path: StorePath,
}

impl<'a> Sight<'a> {
    pub(super) fn new(view: &'a View, caller: &'a Caller) -> Self {
        Self {
            view,
            caller,
            seen: RefCell::default(),
            chains: RefCell::default(),
            states_of_others: OnceCell::new(),
        }
    }

    pub(super) fn seen(&self, id: ResourceId) -> Result<Option<Rc<VisibleResource>>> {
        if let Some(known) = self.seen.borrow().get(&id) {
            return Ok(known.clone());
        }
        let record = self.view.get::<Resource>(&keys::resource(id))?;
        match record {
            Some(record) => self.of_record(id, record),
            None => Ok(self.remember(id, None)),
        }
    }

    /// Reads in one call what [`seen`](Self::seen) would read of each.
    pub(super) fn read_ahead(&self, ids: &[ResourceId]) -> Result<()> {
        for (id, record) in ids.iter().zip(self.view.resources(ids)?) {
            match record {
                Some(record) => drop(self.of_record(*id, record)?),
                None => drop(self.remember(*id, None)),
            }
        }
        Ok(())
    }

    /// The same of a resource whose record was read.
    pub(super) fn of_record(
        &self,
        id: ResourceId,
        resource: Resource,
    ) -> Result<Option<Rc<VisibleResource>>> {
        if let Some(known) = self.seen.borrow().get(&id) {
            return Ok(known.clone());
        }
        let rights = match id {
            ResourceId::ROOT => Chain::alone(id, resource.clone()).rights(self.caller),
            _ => match self.collection(resource.parent)? {
                Some(parent) => parent.chain.rights_of_child(self.caller, id, &resource),
                None => return Ok(self.remember(id, None)),
            },
        };
        let seen = rights.allow(Operation::ReadDescription).then(|| {
            Rc::new(VisibleResource { id, resource, may_list: rights.allow(Operation::List) })
        });
        Ok(self.remember(id, seen))
    }

    fn remember(
        &self,
        id: ResourceId,
        seen: Option<Rc<VisibleResource>>,
    ) -> Option<Rc<VisibleResource>> {
        let mut all = self.seen.borrow_mut();
        if all.len() >= REMEMBERED {
            all.clear();
        }
        all.insert(id, seen.clone());
        seen
    }

    /// A collection, whether the caller may see it or not.
    fn collection(&self, id: ResourceId) -> Result<Option<Rc<Collection>>> {
        if let Some(known) = self.chains.borrow().get(&id) {
            return Ok(known.clone());
        }
        let chain = Chain::read(self.view, id)?;
        let collection = chain.map(|chain| Rc::new(Collection { path: chain.path(), chain }));
        let mut all = self.chains.borrow_mut();
        if all.len() >= REMEMBERED {
            all.clear();
        }
        all.insert(id, collection.clone());
        Ok(collection)
    }

    pub(super) fn path(&self, id: ResourceId) -> Result<Option<StorePath>> {
        let Some(seen) = self.seen(id)? else { return Ok(None) };
        if id == ResourceId::ROOT {
            return Ok(Some(StorePath::trusted(Vec::new())));
        }
        let parent = self.collection(seen.resource.parent)?;
        Ok(parent.map(|parent| parent.path.child(Name::trusted(seen.resource.name.as_str()))))
    }

    /// Whether any description has a statement about something other than its resource.
    pub(super) fn states_of_others(&self) -> Result<bool> {
        if let Some(known) = self.states_of_others.get() {
            return Ok(*known);
        }
        let found = !self.view.rows(&keys::all_subjects(), 1)?.is_empty();
        Ok(*self.states_of_others.get_or_init(|| found))
    }
}
