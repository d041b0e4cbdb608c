//! Descriptions and the index of their statements.

mod classes;
mod spread;

use std::collections::BTreeSet;

use bytes::Bytes;
use cenote_kv::KeyRange;

use super::report::{Look, Report, delete_while_same, look, path_of, rows, while_same};
use super::{Finding, FindingKind as Kind};
use crate::Result;
use crate::catalog::{GraphRecord, Reads, View, keys};
use crate::metadata::{classes_in, entries};
use crate::model::{Graph, PersonId, PlaceId, ResourceId};

pub(super) fn check(view: &View, report: &mut Report<'_>) -> Result<()> {
    let mut indexed = 0;
    let mut whole = true;
    for row in rows(view, &keys::graphs()) {
        let row = row?;
        let id = keys::first_id(&row.0).unwrap_or_default();
        match spread::statements(view, report, id, &row.1)? {
            Some(graph) => {
                indexed += description(view, report, id, &row, &graph)?;
                classes::compare(view, report, ResourceId(id), &classes_in(&graph))?;
            }
            None => whole = false,
        }
    }
    spread::leftovers(view, report)?;
    classes::undescribed(view, report)?;
    // Every entry of a description has been seen, so there are strays only if there are more
    // entries.
    let count = |table| rows(view, table).count() as u64;
    if !whole || keys::all_statements().iter().map(count).sum::<u64>() > indexed {
        keys::all_statements().iter().try_for_each(|table| strays(view, report, table))?;
    }
    report.flush()
}

/// Says how many entries of the index the description has.
fn description(
    view: &View,
    report: &mut Report<'_>,
    id: u64,
    row: &(Bytes, Bytes),
    graph: &Graph,
) -> Result<u64> {
    let (key, value) = row;
    let entries = entries(id, graph);
    let described =
        [keys::resource(ResourceId(id)), keys::person(PersonId(id)), keys::place(PlaceId(id))];
    if !is_described(view, id, &described)? {
        let mut seen: Vec<_> = described.map(|key| (key, None)).into();
        seen.push((key.clone(), Some(value.clone())));
        let spread = view.rows(&keys::quads(id), usize::MAX)?.into_iter().map(|(key, _)| key);
        let rows: Vec<_> = entries.iter().cloned().chain([key.clone()]).chain(spread).collect();
        let fix = while_same(seen, move |tx| rows.iter().for_each(|row| tx.delete(row.clone())));
        let there = rows_there(view, &entries)?;
        report
            .derivable(Finding::new(Kind::Leftover, id, "a description without a resource"), fix)?;
        return Ok(there);
    }
    let there = rows_there(view, &entries)?;
    for entry in entries {
        if view.has(&entry)? {
            continue;
        }
        let finding = Finding::new(Kind::Index, id, "a statement is not in the index");
        let seen = vec![(key.clone(), Some(value.clone()))];
        let fix = while_same(seen, move |tx| tx.mark(entry.clone()));
        report.derivable(finding.at(path_of(view, ResourceId(id))), fix)?;
    }
    Ok(there)
}

/// Whether the subject of a description exists. The main place needs no record.
fn is_described(view: &View, id: u64, keys: &[Bytes]) -> Result<bool> {
    for key in keys {
        if view.has(key)? {
            return Ok(true);
        }
    }
    Ok(id == PlaceId::MAIN.0)
}

fn rows_there(view: &View, entries: &BTreeSet<Bytes>) -> Result<u64> {
    let there = entries.iter().map(|entry| Ok(u64::from(view.has(entry)?)));
    there.sum()
}

fn strays(view: &View, report: &mut Report<'_>, table: &KeyRange) -> Result<()> {
    for row in rows(view, table) {
        let (key, _) = row?;
        let id = keys::last_id(&key).unwrap_or_default();
        let graph = keys::graph(id);
        let stray = match look::<GraphRecord>(view, &graph)? {
            Look::Damaged => false,
            Look::Missing => true,
            // A damaged or missing statement may be the one of this entry.
            Look::Found(found) => spread::whole_and_counted(view, id, found)
                .is_some_and(|graph| !entries(id, &graph).contains(&key)),
        };
        if stray {
            let detail = "the index has a statement that is not in the description";
            let finding = Finding::new(Kind::Index, id, detail).at(path_of(view, ResourceId(id)));
            report.derivable(finding, delete_while_same(view, &key, graph)?)?;
        }
    }
    Ok(())
}
