//! The change feed, of which one entry that does not decode would stop every reader. After a repair the feed begins behind it: it has
//! no gap of which a reader would not know.

use super::report::{Report, is_same, rows};
use super::{Finding, FindingKind};
use crate::Result;
use crate::catalog::{ChangeRecord, Record, Transaction, View, keys};
use crate::feed::{Position, raise_floor};

pub(super) fn check(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::feed_after(None)) {
        let (key, value) = row?;
        if let Err(fault) = ChangeRecord::from_value(&value) {
            let version = keys::first_id(&key).unwrap_or_default();
            let detail = format!("a change of the feed: {fault}; repair forgets all up to it");
            let seen = [(key.clone(), Some(value))];
            let fix = move |tx: &mut Transaction| {
                let is_same = is_same(tx, &seen)?;
                if is_same {
                    tx.delete(key.clone());
                    raise_floor(tx, Position::of_key(&key))?;
                }
                Ok(is_same)
            };
            report.derivable(Finding::new(FindingKind::DamagedRecord, version, detail), fix)?;
        }
    }
    report.flush()
}
