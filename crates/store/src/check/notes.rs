//! Notes of openings about resources, which are stored twice: by name, and by resource.

use std::collections::BTreeSet;

use bytes::Bytes;

use super::report::{Look, Report, look, path_of, rows, while_same};
use super::{Finding, FindingKind as Kind};
use crate::Result;
use crate::catalog::{NoteRecord, Reads, Record, View, keys};
use crate::model::ResourceId;

pub(super) fn check(view: &View, report: &mut Report<'_>) -> Result<()> {
    let mut damaged = BTreeSet::new();
    for row in rows(view, &keys::all_notes_named()) {
        let (key, value) = row?;
        match NoteRecord::from_value(&value) {
            Ok(record) => by_name(view, report, (key, value), record.resource)?,
            Err(_) => drop(damaged.insert(key)),
        }
    }
    for row in rows(view, &keys::all_notes_by_resource()) {
        by_resource(view, report, row?, &mut damaged)?;
    }
    for key in damaged {
        let (_, name) = keys::opening_and_name(&key);
        report.lost(Finding::new(Kind::DamagedRecord, name, "a note about a resource"))?;
    }
    report.flush()
}

/// A note by its name: its resource exists, and refers to it.
fn by_name(
    view: &View,
    report: &mut Report<'_>,
    (key, value): (Bytes, Bytes),
    id: ResourceId,
) -> Result<()> {
    let (opening, name) = keys::opening_and_name(&key);
    let copy = keys::note_about(id, opening, name);
    let resource = keys::resource(id);
    if !view.has(&resource)? {
        let finding =
            Finding::new(Kind::Leftover, id, format!("a note about a missing resource: {name:?}"));
        let seen = vec![(resource, None), (key.clone(), Some(value))];
        let gone = [key.clone(), copy];
        let fix = while_same(seen, move |tx| gone.iter().for_each(|key| tx.delete(key.clone())));
        return report.derivable(finding, fix);
    }
    if view.value(&copy)?.as_ref() == Some(&value) {
        return Ok(());
    }
    let detail = format!("a note is not in the index of its resource: {name:?}");
    let finding = Finding::new(Kind::Reference, id, detail).at(path_of(view, id));
    let seen = vec![(key.clone(), Some(value.clone()))];
    report.derivable(finding, while_same(seen, move |tx| tx.put_raw(copy.clone(), value.clone())))
}

/// A note by its resource: it has the name. If its record by name is lost, it is rebuilt from this one.
fn by_resource(
    view: &View,
    report: &mut Report<'_>,
    (key, value): (Bytes, Bytes),
    damaged: &mut BTreeSet<Bytes>,
) -> Result<()> {
    let id = ResourceId(keys::first_id(&key).unwrap_or_default());
    let (opening, name) = keys::opening_and_name(&key);
    let named = keys::note_named(opening, name);
    let found = look::<NoteRecord>(view, &named)?;
    if matches!(&found, Look::Found(record) if record.resource == id) {
        return Ok(());
    }
    let own = NoteRecord::from_value(&value).is_ok_and(|record| record.resource == id);
    let whole = own && view.has(&keys::resource(id))?;
    let seen = vec![(named.clone(), view.value(&named)?), (key.clone(), Some(value.clone()))];
    let at = path_of(view, id);
    match found {
        Look::Missing | Look::Damaged if whole => {
            let kind = if damaged.remove(&named) { Kind::DamagedRecord } else { Kind::Reference };
            let detail = format!("a note is not in the index of names: {name:?}");
            let fix = while_same(seen, move |tx| tx.put_raw(named.clone(), value.clone()));
            report.derivable(Finding::new(kind, id, detail).at(at), fix)
        }
        // Neither can be recovered: the content is lost.
        Look::Damaged => Ok(()),
        Look::Missing | Look::Found(_) => {
            let detail = format!("a note of a name that is not this resource's: {name:?}");
            let fix = while_same(seen, move |tx| tx.delete(key.clone()));
            report.derivable(Finding::new(Kind::Reference, id, detail).at(at), fix)
        }
    }
}
