//! What was removed at a path: openings whose protocol knows of tombstones answer for it.
//!
//! Invariant: a tombstone is a view of the trash. It ends when what was removed is restored, purged, or has expired; and it is seen by
//! everybody who could see the resource before it was removed.

use crate::access::{Chain, Operation};
use crate::catalog::{Child, Reads, Record, TrashRecord, View, keys};
use crate::model::{Name, Resource, ResourceId, StorePath};
use crate::resources::trace;
use crate::{Caller, Result, Store};

use super::TrashItem;

/// The remains of a removed resource at its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tombstone {
    /// What was removed: the resource itself, or a collection above it.
    pub removed: TrashItem,
    /// The resource that was at the path; none if only something above the path was removed, and nothing was there.
    pub id: Option<ResourceId>,
}

impl Store {
    /// What was removed at a path where nothing is now, or on the way there, by itself or with a collection above it; what was removed
    /// last, if several resources were. None if nothing is kept there that the caller could see.
    pub fn tombstone(&self, caller: &Caller, path: &StorePath) -> Result<Option<Tombstone>> {
        let view = self.view()?;
        let Some(above) = trace(&view, path)?.filter(|met| met.depth() < path.names().len()) else {
            return Ok(None);
        };
        let Some((top, id)) = descend(&view, above.id(), &path.names()[above.depth()..])? else {
            return Ok(None);
        };
        let seen = Chain::read_removed(&view, id.unwrap_or(top))?
            .is_some_and(|chain| chain.rights(caller).allow(Operation::Stat));
        let record = view.get::<TrashRecord>(&keys::trash(top))?;
        let resource = view.get::<Resource>(&keys::resource(top))?;
        Ok(record.zip(resource).filter(|_| seen).map(|(record, resource)| Tombstone {
            removed: TrashItem::new(top, resource.kind, record),
            id,
        }))
    }
}

/// Follows names down from a collection, where the first of them was removed: the last resource on the way that was removed by itself,
/// and what the names lead to, if they lead to something.
fn descend(
    view: &View,
    collection: ResourceId,
    names: &[Name],
) -> Result<Option<(ResourceId, Option<ResourceId>)>> {
    let (mut top, mut at) = (None, collection);
    for name in names {
        at = match view.get::<Child>(&keys::child(at, name.as_str()))? {
            Some(child) => child.id,
            None => match newest(view, at, name)? {
                Some(removed) => *top.insert(removed),
                None => return Ok(top.map(|top| (top, None))),
            },
        };
    }
    Ok(top.map(|top| (top, Some(at))))
}

/// What was removed last of what had this name in a collection.
fn newest(view: &View, collection: ResourceId, name: &Name) -> Result<Option<ResourceId>> {
    let rows = view.rows(&keys::removed_from(collection, name.as_str()), usize::MAX)?;
    let ids: Vec<_> =
        rows.iter().filter_map(|(key, _)| keys::last_id(key)).map(ResourceId).collect();
    let records = view.values_of(&ids, keys::trash)?;
    let mut newest = None;
    for (id, record) in ids.into_iter().zip(records) {
        let Some(record) = record else { continue };
        newest = newest.max(Some((TrashRecord::from_value(&record)?.removed, id)));
    }
    Ok(newest.map(|(_, id)| id))
}
