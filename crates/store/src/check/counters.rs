//! Counters, counted again from the records of the resources and the blobs.

use std::collections::{HashMap, HashSet};

use super::report::{Report, path_of, rows};
use super::{Finding, FindingKind};
use crate::Result;
use crate::catalog::keys::{self, Counter};
use crate::catalog::{BlobRecord, Reads, Record, TrashRecord, View};
use crate::model::{Resource, ResourceId};
use crate::quotas::{recount, unsettled};
use crate::trash::TRASH;

#[derive(Default)]
struct Sum {
    resources: i64,
    bytes: i64,
    replicas: i64,
    removed: i64,
}

impl Sum {
    fn add(&mut self, bytes: u64) {
        self.resources += 1;
        self.bytes = self.bytes.wrapping_add(bytes as i64);
    }
}

type Sums = HashMap<u64, Sum>;

/// Takes memory for each collection that is not empty, and for each place.
pub(super) fn check(view: &View, report: &mut Report<'_>) -> Result<()> {
    // The sum of the store has id 0, and exists even if it is zero.
    let mut sums = Sums::from([(0, Sum::default())]);
    let mut marks = HashSet::new();
    if !resources(view, &mut sums, &mut marks)?
        || !blobs(view, &mut sums)?
        || !trash(view, &mut sums)?
    {
        // Reported with the records; until they are repaired nothing can be counted.
        return Ok(());
    }
    let Some(quotas) = recount(view)? else { return Ok(()) };
    for (count, total) in quotas {
        let sum = Sum { resources: total.resources, bytes: total.bytes, ..Sum::default() };
        sums.insert(count, sum);
    }
    for (id, sum) in &sums {
        compare(view, report, *id, sum)?;
    }
    // Their correct values are known only once they are counted.
    marks.extend(unsettled(view)?);
    let mut last = None;
    for row in rows(view, &keys::counters()) {
        let id = keys::first_id(&row?.0).unwrap_or_default();
        if !sums.contains_key(&id) && !marks.contains(&id) && last.replace(id) != Some(id) {
            compare(view, report, id, &Sum::default())?;
        }
    }
    report.flush()
}

/// Counts resources; false if one does not decode.
fn resources(view: &View, sums: &mut Sums, marks: &mut HashSet<u64>) -> Result<bool> {
    for row in rows(view, &keys::resources()) {
        let (key, value) = row?;
        let Ok(resource) = Resource::from_value(&value) else {
            return Ok(false);
        };
        if keys::first_id(&key) != Some(ResourceId::ROOT.0) {
            for id in [0, resource.parent.0] {
                sums.entry(id).or_default().add(resource.content.as_ref().map_or(0, |c| c.size));
            }
        }
        marks.extend(resource.counting.as_ref().and_then(|counting| counting.moving));
        for place in resource.placement.places() {
            sums.entry(place.0).or_default().replicas += 1;
        }
    }
    Ok(true)
}

/// Counts a removed tree that is kept; false if a record does not decode.
fn trash(view: &View, sums: &mut Sums) -> Result<bool> {
    for row in rows(view, &keys::all_trash()) {
        let Ok(record) = TrashRecord::from_value(&row?.1) else { return Ok(false) };
        let bytes = record.amount.unwrap_or_default().bytes;
        sums.entry(TRASH).or_default().add(bytes);
        if let Some(collection) = record.limited_by {
            let sum = sums.entry(collection.0).or_default();
            sum.removed = sum.removed.wrapping_add(bytes as i64);
        }
    }
    Ok(true)
}

/// Counts copies of blobs; false if a record does not decode.
fn blobs(view: &View, sums: &mut Sums) -> Result<bool> {
    for row in rows(view, &keys::blobs()) {
        let Ok(record) = BlobRecord::from_value(&row?.1) else { return Ok(false) };
        for copy in &record.copies {
            sums.entry(copy.place().0).or_default().add(record.size);
        }
    }
    Ok(true)
}

fn compare(view: &View, report: &mut Report<'_>, id: u64, sum: &Sum) -> Result<()> {
    let all = [
        (Counter::Resources, sum.resources),
        (Counter::Bytes, sum.bytes),
        (Counter::Replicas, sum.replicas),
        (Counter::Removed, sum.removed),
    ];
    for (what, expected) in all {
        let counted = view.counter(id, what)?;
        if counted == expected {
            continue;
        }
        let detail = format!("{what:?} counted as {counted}, there are {expected}");
        let finding = Finding::new(FindingKind::Counter, id, detail);
        let finding = finding.at(path_of(view, ResourceId(id)));
        // An addition, so that concurrent changes are counted.
        report.derivable(finding, move |tx| {
            tx.add(id, what, expected.wrapping_sub(counted));
            Ok(true)
        })?;
    }
    Ok(())
}
