//! Places: their records, and whether replicas are in their recorded places.

use super::report::{Report, path_of, rows, while_same};
use super::{Finding, FindingKind as Kind};
use crate::Result;
use crate::catalog::{BlobRecord, Reads, Record, View, keys};
use crate::contents::{blob_ids, resolve};
use crate::model::{ContentHead, PlaceId, PlaceInfo, Resource, ResourceId};
use crate::resources::replica_user;

pub(super) fn check(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::places()) {
        let (key, value) = row?;
        if let Err(fault) = PlaceInfo::from_value(&value) {
            let id = keys::last_id(&key).unwrap_or_default();
            let detail = format!("the record of a place: {fault}");
            report.lost(Finding::new(Kind::DamagedRecord, id, detail))?;
        }
    }
    for row in rows(view, &keys::resources()) {
        let (key, value) = row?;
        let Ok(resource) = Resource::from_value(&value) else { continue };
        if !resource.replicas.is_empty() {
            let id = ResourceId(keys::first_id(&key).unwrap_or_default());
            replicas(view, report, id, resource)?;
        }
    }
    report.flush()
}

/// A replica whose place lacks a blob of the content is not good; a repair marks it.
fn replicas(
    view: &View,
    report: &mut Report<'_>,
    id: ResourceId,
    mut resource: Resource,
) -> Result<()> {
    let Some(head) = resource.content.clone() else { return Ok(()) };
    let key = keys::resource(id);
    let seen = vec![(key.clone(), view.value(&key)?)];
    let mut missing = Vec::new();
    for replica in resource.replicas.iter_mut().filter(|replica| replica.is_good()) {
        if !holds(view, &head, replica.place)? {
            replica.stale = Some(head.clone());
            missing.push((replica.number, replica.place));
        }
    }
    let Some((number, place)) = missing.first().copied() else { return Ok(()) };
    let users: Vec<_> = missing
        .iter()
        .map(|(number, _)| keys::content_user(head.id, id, replica_user(*number)))
        .collect();
    let fix = while_same(seen, move |tx| {
        tx.put(key.clone(), &resource);
        users.iter().for_each(|user| tx.mark(user.clone()));
    });
    let detail = format!("replica {number} is not in place #{place}");
    report.derivable(Finding::new(Kind::Replica, id, detail).at(path_of(view, id)), fix)
}

/// Whether a place has a copy of each blob of a content; true if that cannot be known.
fn holds(view: &View, head: &ContentHead, place: PlaceId) -> Result<bool> {
    let Ok(extents) = resolve(view, head) else { return Ok(true) };
    for blob in blob_ids(&extents) {
        match view.get::<BlobRecord>(&keys::blob(blob)) {
            Ok(Some(record)) if record.copy_in(place).is_none() => return Ok(false),
            // Reported with the contents, or with the blobs.
            _ => {}
        }
    }
    Ok(true)
}
