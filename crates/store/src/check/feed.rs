//! The change feed, of which one entry that does not decode would stop every reader.

use super::report::{Report, rows, while_same};
use super::{Finding, FindingKind};
use crate::Result;
use crate::catalog::{ChangeRecord, Record, View, keys};

pub(super) fn check(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::feed_after(None)) {
        let (key, value) = row?;
        if let Err(fault) = ChangeRecord::from_value(&value) {
            let version = keys::first_id(&key).unwrap_or_default();
            let detail = format!("a change of the feed: {fault}; repair drops it");
            let fix = while_same(vec![(key.clone(), Some(value))], move |tx| {
                tx.delete(key.clone());
            });
            report.derivable(Finding::new(FindingKind::DamagedRecord, version, detail), fix)?;
        }
    }
    report.flush()
}
