//! How much there is in a removed tree: as it is noted, or a job will count it.

use super::super::report::{Report, while_same};
use super::super::{Finding, FindingKind as Kind};
use crate::Result;
use crate::catalog::keys;
use crate::catalog::{Amount, JobRecord, TrashRecord, View};
use crate::model::ResourceId;
use crate::trash::{add_bytes, amount_below};

type Rows = Vec<(bytes::Bytes, Option<bytes::Bytes>)>;

pub(super) fn check(
    view: &View,
    report: &mut Report<'_>,
    id: ResourceId,
    record: &TrashRecord,
    is_measured: bool,
    seen: Rows,
) -> Result<()> {
    match record.amount {
        None if is_measured => Ok(()),
        None => uncounted(report, id, seen),
        Some(noted) => counted(view, report, id, record, noted, seen),
    }
}

fn uncounted(report: &mut Report<'_>, id: ResourceId, seen: Rows) -> Result<()> {
    let job = keys::job(report.store.new_id()?);
    let fix = while_same(seen, move |tx| tx.put(job.clone(), &JobRecord::Measure(id)));
    report.derivable(Finding::new(Kind::Job, id, "it is in the trash, but no job counts it"), fix)
}

fn counted(
    view: &View,
    report: &mut Report<'_>,
    id: ResourceId,
    record: &TrashRecord,
    noted: Amount,
    seen: Rows,
) -> Result<()> {
    // Damage below is reported with the tree.
    let Ok(counted) = amount_below(view, id) else { return Ok(()) };
    if counted == noted {
        return Ok(());
    }
    let detail = format!("{noted:?} is noted, there is {counted:?}");
    let fixed = TrashRecord { amount: Some(counted), ..record.clone() };
    let grown = counted.bytes.wrapping_sub(noted.bytes) as i64;
    let fix = while_same(seen, move |tx| {
        add_bytes(tx, &fixed, grown);
        tx.put(keys::trash(id), &fixed);
    });
    report.derivable(Finding::new(Kind::Counter, id, detail), fix)
}
