//! Places: their records, and whether replicas are in their recorded places.

use super::report::{Report, path_of, rows, while_same};
use super::{Finding, FindingKind as Kind};
use crate::Result;
use crate::catalog::{BlobRecord, Reads, Record, View, keys};
use crate::contents::{blob_ids, resolve};
use crate::model::{ContentHead, PlaceId, PlaceInfo, Placement, Resource, ResourceId};
use crate::resources::{replica_user, rewrite_record};

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
        let id = ResourceId(keys::first_id(&key).unwrap_or_default());
        match resource.placement.is_listed() {
            true => replicas(view, report, id, resource)?,
            false => by_default(view, report, id, resource)?,
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
    for replica in resource.placement.listed_mut().filter(|replica| replica.is_good()) {
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

/// An object for which nobody named a place has a part where its record says. A repair records where the first part is.
fn by_default(view: &View, report: &mut Report<'_>, id: ResourceId, old: Resource) -> Result<()> {
    let (Some(head), recorded) = (&old.content, old.placement.by_default()) else { return Ok(()) };
    let Ok(extents) = resolve(view, head) else { return Ok(()) };
    let mut first = None;
    for blob in blob_ids(&extents) {
        // Those that do not decode, or are missing, are reported with the blobs.
        let Ok(Some(record)) = view.get::<BlobRecord>(&keys::blob(blob)) else { continue };
        if recorded.is_some_and(|place| record.copy_in(place).is_some()) {
            return Ok(());
        }
        first.get_or_insert(record.place());
    }
    let to = match (first, recorded) {
        (None, Some(_)) => return Ok(()),
        (first, _) => first.unwrap_or(PlaceId::MAIN),
    };
    let key = keys::resource(id);
    let seen = vec![(key.clone(), view.value(&key)?)];
    let new = Resource { placement: Placement::ByDefault(to), ..old.clone() };
    let detail =
        format!("its content is recorded in {}, and is in place #{to}", described(recorded));
    let fix = while_same(seen, move |tx| rewrite_record(tx, id, &old, &new));
    report.derivable(Finding::new(Kind::Replica, id, detail).at(path_of(view, id)), fix)
}

fn described(place: Option<PlaceId>) -> String {
    place.map_or_else(|| "no place".to_owned(), |place| format!("place #{place}"))
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
