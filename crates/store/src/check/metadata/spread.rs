//! Descriptions that are spread over a row a statement.

use crate::Result;
use crate::catalog::{GraphRecord, Reads, Record, Spread, Transaction, View, keys};
use crate::check::report::{Report, delete_while_same, look, path_of, rows};
use crate::check::{Finding, FindingKind as Kind};
use crate::metadata::{row_of, whole};
use crate::model::{Graph, ResourceId};

/// The statements of a description with this record; none if any of them are lost, which is reported.
pub(super) fn statements(
    view: &View,
    report: &mut Report<'_>,
    id: u64,
    record: &[u8],
) -> Result<Option<Graph>> {
    let mut lost = |what: String| {
        let finding = Finding::new(Kind::DamagedRecord, id, format!("a description: {what}"));
        report.lost(finding.at(path_of(view, ResourceId(id)))).map(|()| None)
    };
    let record = match GraphRecord::from_value(record) {
        Ok(record) => record,
        Err(fault) => return lost(fault.to_string()),
    };
    let (spread, own) = (record.spread, record.statements.len());
    let graph = match whole(view, id, record) {
        Ok(graph) => graph,
        Err(fault) => return lost(fault.to_string()),
    };
    let Some(spread) = spread else { return Ok(Some(graph)) };
    let there = Spread::of(&graph);
    if there.statements < spread.statements || own > 0 {
        return lost(format!("{} of {} statements", there.statements, spread.statements));
    }
    if there != spread {
        let finding = Finding::new(Kind::Counter, id, "the size of a description");
        report.derivable(finding.at(path_of(view, ResourceId(id))), move |tx| recount(tx, id))?;
    }
    Ok(Some(graph))
}

/// The statements that a record says there are, if each can be read.
pub(super) fn whole_and_counted(view: &View, id: u64, record: GraphRecord) -> Option<Graph> {
    let most = record.spread.map_or(0, |spread| spread.statements);
    whole(view, id, record).ok().filter(|graph| graph.len() as u64 >= most)
}

fn recount(tx: &mut Transaction, id: u64) -> Result<bool> {
    let key = keys::graph(id);
    let Some(record) = tx.get::<GraphRecord>(&key)?.filter(|record| record.spread.is_some()) else {
        return Ok(false);
    };
    let spread = Some(Spread::of(&whole(tx, id, record.clone())?));
    let differs = record.spread != spread;
    tx.put(key, &GraphRecord { spread, ..record });
    Ok(differs)
}

/// Rows that no record says are there, or that a change would not find.
pub(super) fn leftovers(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::all_quads()) {
        let (key, value) = row?;
        let id = keys::first_id(&key).unwrap_or_default();
        let graph = keys::graph(id);
        if look::<GraphRecord>(view, &graph)?.map(|record| record.spread.is_none()).or_missing(true)
        {
            let finding = Finding::new(Kind::Leftover, id, "a statement without a description");
            report.derivable(finding, delete_while_same(view, &key, graph)?)?;
        } else if let Ok(record) = GraphRecord::from_value(&value)
            && record.statements.iter().any(|statement| row_of(id, statement) != key)
        {
            let finding = Finding::new(Kind::DamagedRecord, id, "a statement in the wrong row");
            report.lost(finding.at(path_of(view, ResourceId(id))))?;
        }
    }
    Ok(())
}
