//! Rebuilding a record of the trash: the change feed also has the path of a resource, who removed it and when.

use std::collections::HashMap;
use std::time::Duration;

use super::super::Finding;
use super::super::report::{Report, rows, while_same};
use crate::Result;
use crate::access::Chain;
use crate::catalog::{ChangeKind, ChangeRecord, JobRecord, Reads, Record, TrashRecord, View, keys};
use crate::model::{ResourceId, Time};
use crate::trash::{limited_by, shown_below};

/// What has no entry in the order of expiry either is kept for so long from now on.
const KEPT: Duration = Duration::from_secs(30 * 86_400);

/// A resource of which it is not known any more how to restore it.
pub(super) struct Lost {
    pub(super) id: ResourceId,
    pub(super) until: Option<Time>,
    pub(super) finding: Finding,
}

/// Reports all of them, and rebuilds the records whose removals are still in the feed.
pub(super) fn all(view: &View, report: &mut Report<'_>, lost: Vec<Lost>) -> Result<()> {
    if lost.is_empty() {
        return Ok(());
    }
    let removals = removals(view, &lost)?;
    for Lost { id, until, finding } in lost {
        let Some(removal) = removals.get(&id) else {
            report.lost(finding)?;
            continue;
        };
        let until = until.unwrap_or(report.store.now().plus(KEPT));
        let record = record(view, removal, until)?;
        let job = keys::job(report.store.new_id()?);
        let (trash, resource) = (keys::trash(id), keys::resource(id));
        let seen =
            vec![(trash.clone(), view.value(&trash)?), (resource.clone(), view.value(&resource)?)];
        let fix = while_same(seen, move |tx| {
            tx.put(trash.clone(), &record);
            record.entries(id).for_each(|entry| tx.mark(entry));
            tx.put(job.clone(), &JobRecord::Measure(id));
        });
        report.derivable(finding, fix)?;
    }
    Ok(())
}

/// The last removal of each.
fn removals(view: &View, lost: &[Lost]) -> Result<HashMap<ResourceId, ChangeRecord>> {
    let mut removals = HashMap::new();
    for row in rows(view, &keys::feed_after(None)) {
        // Undecodable records are reported with the feed.
        let Ok(change) = ChangeRecord::from_value(&row?.1) else { continue };
        if change.kind == ChangeKind::Removed && lost.iter().any(|lost| lost.id == change.id) {
            removals.insert(change.id, change);
        }
    }
    Ok(removals)
}

fn record(view: &View, removal: &ChangeRecord, until: Time) -> Result<TrashRecord> {
    let above = Chain::read_removed(view, removal.parent)?;
    Ok(TrashRecord {
        parent: removal.parent,
        path: shown_below(above.as_ref(), &removal.name),
        removed: removal.at,
        removed_by: removal.by,
        until,
        amount: None,
        limited_by: above.as_ref().and_then(limited_by),
    })
}
