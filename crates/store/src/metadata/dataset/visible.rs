//! What the caller may see, remembered for as long as one query runs.
//!
//! A query that counts or joins resources by what they are needs little of their records: only that is decoded, until more is asked for.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use bytes::Bytes;
use minicbor::Decode;

use crate::access::{Chain, Operation, decide};
use crate::catalog::{Reads, Record, View, decoded, keys};
use crate::model::{Access, Kind, Name, Resource, ResourceId, StorePath};
use crate::{Caller, Result};

/// A resource that the caller may see.
#[derive(Debug)]
pub struct VisibleResource {
    /// Its id.
    pub id: ResourceId,
    /// The collection it is in; [`ResourceId::ROOT`] is its own parent.
    pub parent: ResourceId,
    /// What it is.
    pub kind: Kind,
    /// Whether the caller may list its children.
    pub may_list: bool,
    /// Whether the caller may read its versions.
    pub may_read_versions: bool,
    value: Bytes,
    record: OnceCell<Box<Resource>>,
}

impl VisibleResource {
    /// Its record.
    pub fn record(&self) -> Result<&Resource> {
        if let Some(known) = self.record.get() {
            return Ok(known);
        }
        let record = Box::new(Resource::from_value(&self.value)?);
        Ok(self.record.get_or_init(|| record))
    }
}

/// What of a record decides whether the caller sees the resource, and where: fields of [`Resource`] with its numbers.
#[derive(Decode)]
struct Outline {
    #[n(0)]
    parent: ResourceId,
    #[n(2)]
    kind: Kind,
    #[n(10)]
    access: Access,
}

/// So many resources are remembered; then all are forgotten.
const REMEMBERED: usize = 16_384;

pub(super) struct VisibilityCache<'a> {
    view: &'a View,
    caller: &'a Caller,
    resources: RefCell<HashMap<ResourceId, Option<Rc<VisibleResource>>>>,
    /// Collections with those above them; none of those that were removed.
    chains: RefCell<HashMap<ResourceId, Option<Rc<Collection>>>>,
    states_of_others: OnceCell<bool>,
}

struct Collection {
    chain: Chain,
    path: StorePath,
}

impl<'a> VisibilityCache<'a> {
    pub(super) fn new(view: &'a View, caller: &'a Caller) -> Self {
        Self {
            view,
            caller,
            resources: RefCell::default(),
            chains: RefCell::default(),
            states_of_others: OnceCell::new(),
        }
    }

    pub(super) fn resource(&self, id: ResourceId) -> Result<Option<Rc<VisibleResource>>> {
        if let Some(known) = self.resources.borrow().get(&id) {
            return Ok(known.clone());
        }
        match self.view.value(&keys::resource(id))? {
            Some(value) => self.of_value(id, value),
            None => Ok(self.remember(id, None)),
        }
    }

    /// Reads in one call what [`resource`](Self::resource) would read of each.
    pub(super) fn read_ahead(&self, ids: &[ResourceId]) -> Result<()> {
        for (id, value) in ids.iter().zip(self.view.values_of(ids, keys::resource)?) {
            match value {
                Some(value) => drop(self.of_value(*id, value)?),
                None => drop(self.remember(*id, None)),
            }
        }
        Ok(())
    }

    /// The same of a resource whose record was read.
    pub(super) fn of_value(
        &self,
        id: ResourceId,
        value: Bytes,
    ) -> Result<Option<Rc<VisibleResource>>> {
        if let Some(known) = self.resources.borrow().get(&id) {
            return Ok(known.clone());
        }
        let Outline { parent, kind, access } = decoded(&value, &mut ())?;
        let rights = match id {
            ResourceId::ROOT => decide(self.caller, &[(id, &access)]),
            _ => match self.collection(parent)? {
                Some(parent) => parent.chain.rights_below(self.caller, id, &access),
                None => return Ok(self.remember(id, None)),
            },
        };
        let may_list = rights.allow(Operation::List);
        let may_read_versions = rights.allow(Operation::ReadVersions);
        let seen = rights.allow(Operation::ReadDescription).then(|| {
            let record = OnceCell::new();
            Rc::new(VisibleResource {
                id,
                parent,
                kind,
                may_list,
                may_read_versions,
                value,
                record,
            })
        });
        Ok(self.remember(id, seen))
    }

    fn remember(
        &self,
        id: ResourceId,
        seen: Option<Rc<VisibleResource>>,
    ) -> Option<Rc<VisibleResource>> {
        let mut all = self.resources.borrow_mut();
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
        let Some(seen) = self.resource(id)? else { return Ok(None) };
        if id == ResourceId::ROOT {
            return Ok(Some(StorePath::trusted(Vec::new())));
        }
        let Some(parent) = self.collection(seen.parent)? else { return Ok(None) };
        Ok(Some(parent.path.child(Name::trusted(seen.record()?.name.as_str()))))
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
