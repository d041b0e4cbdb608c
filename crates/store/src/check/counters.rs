//! Counters, counted again from the records of the resources.

use std::collections::HashMap;

use super::report::{Report, path_of, rows};
use super::{Finding, FindingKind};
use crate::Result;
use crate::catalog::keys::{self, Counter};
use crate::catalog::{Reads, Record, View};
use crate::model::{Resource, ResourceId};

#[derive(Default)]
struct Sum {
    resources: i64,
    bytes: i64,
}

impl Sum {
    fn add(&mut self, resource: &Resource) {
        self.resources += 1;
        self.bytes += resource.content.as_ref().map_or(0, |content| content.size as i64);
    }
}

/// Takes memory for each collection that is not empty.
pub(super) fn check(view: &View, report: &mut Report<'_>) -> Result<()> {
    // The sum of the store has id 0, and counts even where there is nothing.
    let mut sums = HashMap::from([(0, Sum::default())]);
    for row in rows(view, &keys::resources()) {
        let (key, value) = row?;
        let Ok(resource) = Resource::from_value(&value) else {
            // Reported with the resources; until it is mended nothing can be counted.
            return Ok(());
        };
        if keys::first_id(&key) != Some(ResourceId::ROOT.0) {
            for id in [0, resource.parent.0] {
                sums.entry(id).or_default().add(&resource);
            }
        }
    }
    for (id, sum) in &sums {
        compare(view, report, *id, sum)?;
    }
    let mut last = None;
    for row in rows(view, &keys::counters()) {
        let id = keys::first_id(&row?.0).unwrap_or_default();
        if !sums.contains_key(&id) && last.replace(id) != Some(id) {
            compare(view, report, id, &Sum::default())?;
        }
    }
    report.flush()
}

fn compare(view: &View, report: &mut Report<'_>, id: u64, sum: &Sum) -> Result<()> {
    for (what, expected) in [(Counter::Resources, sum.resources), (Counter::Bytes, sum.bytes)] {
        let counted = view.counter(id, what)?;
        if counted == expected {
            continue;
        }
        let detail = format!("{what:?} counted as {counted}, there are {expected}");
        let finding = Finding::new(FindingKind::Counter, id, detail);
        let finding = finding.at(path_of(view, ResourceId(id)));
        // An addition, so that changes made meanwhile keep counting.
        report.derivable(finding, move |tx| {
            tx.add(id, what, expected - counted);
            Ok(true)
        })?;
    }
    Ok(())
}
