//! The trash: each record belongs to a resource that was removed and that no job sweeps, has an entry in the
//! order of expiry, and says how much there is.
//!
//! A lost record is rebuilt from the change feed ([`rebuild`]), as long as the feed contains the removal.

mod amount;
mod rebuild;

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use cenote_kv::KeyRange;

use self::rebuild::Lost;
use super::report::{Look, Report, delete_while_same, look, rows, while_same};
use super::{Finding, FindingKind as Kind};
use crate::Result;
use crate::catalog::{JobRecord, Reads, Record, TrashRecord, View, keys};
use crate::model::{Resource, ResourceId, Time};

pub(super) fn check(view: &View, report: &mut Report<'_>) -> Result<()> {
    let mut trash = Trash { view, jobs: jobs(view)?, expires: expires(view)?, lost: Vec::new() };
    for row in rows(view, &keys::all_trash()) {
        let (key, value) = row?;
        let id = ResourceId(keys::first_id(&key).unwrap_or_default());
        match TrashRecord::from_value(&value) {
            Ok(record) => trash.record(report, id, &record, (&key, value))?,
            Err(fault) => trash.damaged(report, id, &key, fault.to_string())?,
        }
    }
    trash.entries(report)?;
    trash.others(
        report,
        &keys::all_removed(),
        "an entry of the trash at a path where nothing was removed",
    )?;
    trash.others(
        report,
        &keys::all_limited(),
        "it counts for a limit that does not apply to it",
    )?;
    rebuild::all(view, report, trash.lost)?;
    report.flush()
}

/// When kept resources expire, by the entries in the order of expiry.
pub(super) fn expires(view: &View) -> Result<HashMap<ResourceId, Time>> {
    let mut expires = HashMap::new();
    for row in rows(view, &keys::all_expiries()) {
        let (until, id) = keys::expiring(&row?.0);
        expires.insert(id, until);
    }
    Ok(expires)
}

/// The removed trees that a job sweeps, and those that one counts.
#[derive(Default)]
struct Jobs {
    swept: HashSet<ResourceId>,
    measured: HashSet<ResourceId>,
}

fn jobs(view: &View) -> Result<Jobs> {
    let mut jobs = Jobs::default();
    for row in rows(view, &keys::jobs()) {
        // Undecodable resources are reported with the tree.
        match JobRecord::from_value(&row?.1) {
            Ok(JobRecord::Sweep(id)) => drop(jobs.swept.insert(id)),
            Ok(JobRecord::Restore(job)) if !job.over => drop(jobs.swept.insert(job.made)),
            Ok(JobRecord::Measure(id)) => drop(jobs.measured.insert(id)),
            _ => {}
        }
    }
    Ok(jobs)
}

/// The findings for missing entries, in the order of [`TrashRecord::entries`].
const MISSING: [&str; 3] = [
    "it is in the trash, but not in the order of expiry",
    "it is in the trash, but not in the index of former paths",
    "it is in the trash, but does not count for the limit of a collection",
];

struct Trash<'a> {
    view: &'a View,
    jobs: Jobs,
    expires: HashMap<ResourceId, Time>,
    /// Records to be rebuilt.
    lost: Vec<Lost>,
}

impl Trash<'_> {
    fn record(
        &self,
        report: &mut Report<'_>,
        id: ResourceId,
        record: &TrashRecord,
        (key, value): (&Bytes, Bytes),
    ) -> Result<()> {
        if !self.is_kept(id)? {
            return self.leftover(report, id, record, key);
        }
        let seen = vec![(key.clone(), Some(value))];
        for (entry, detail) in record.entries(id).zip(MISSING) {
            if !self.view.has(&entry)? {
                let fix = while_same(seen.clone(), move |tx| tx.mark(entry.clone()));
                report.derivable(Finding::new(Kind::Index, id, detail), fix)?;
            }
        }
        let is_measured = self.jobs.measured.contains(&id);
        amount::check(self.view, report, id, record, is_measured, seen)
    }

    fn leftover(
        &self,
        report: &mut Report<'_>,
        id: ResourceId,
        record: &TrashRecord,
        key: &Bytes,
    ) -> Result<()> {
        let detail = "a record of the trash for something that is not in it";
        let resource = keys::resource(id);
        let entries: Vec<_> = record.entries(id).collect();
        let rows = [key, &resource].map(|row| Ok((row.clone(), self.view.value(row)?)));
        let seen = rows.into_iter().collect::<Result<Vec<_>>>()?;
        let key = key.clone();
        let fix = while_same(seen, move |tx| {
            tx.delete(key.clone());
            entries.iter().for_each(|entry| tx.delete(entry.clone()));
        });
        report.derivable(Finding::new(Kind::Leftover, id, detail), fix)
    }

    fn damaged(
        &mut self,
        report: &mut Report<'_>,
        id: ResourceId,
        key: &Bytes,
        fault: String,
    ) -> Result<()> {
        let detail = format!("a record of the trash: {fault}");
        let finding = Finding::new(Kind::DamagedRecord, id, detail);
        match self.is_kept(id)? {
            true => self.lost.push(Lost { id, until: self.expires.get(&id).copied(), finding }),
            false => {
                let fix = delete_while_same(self.view, key, keys::resource(id))?;
                report.derivable(finding, fix)?;
            }
        }
        Ok(())
    }

    /// The order of expiry has nothing that is not kept, and nothing twice.
    fn entries(&mut self, report: &mut Report<'_>) -> Result<()> {
        for row in rows(self.view, &keys::all_expiries()) {
            let (key, _) = row?;
            let (until, id) = keys::expiring(&key);
            let record = keys::trash(id);
            match look::<TrashRecord>(self.view, &record)? {
                Look::Damaged => continue,
                Look::Found(found) if keys::expiry(found.until, id) == key => continue,
                Look::Missing if self.is_kept(id)? => {
                    let detail = "its record in the trash is missing";
                    let finding = Finding::new(Kind::DamagedRecord, id, detail);
                    self.lost.push(Lost { id, until: Some(until), finding });
                    continue;
                }
                Look::Found(_) | Look::Missing => {}
            }
            let detail = "an entry in the order of expiry that matches no record";
            let fix = delete_while_same(self.view, &key, record)?;
            report.derivable(Finding::new(Kind::Index, id, detail), fix)?;
        }
        Ok(())
    }

    /// A resource that is found by another entry is kept, and has that entry.
    fn others(
        &self,
        report: &mut Report<'_>,
        entries: &KeyRange,
        detail: &'static str,
    ) -> Result<()> {
        for row in rows(self.view, entries) {
            let (key, _) = row?;
            let id = ResourceId(keys::last_id(&key).unwrap_or_default());
            let record = keys::trash(id);
            match look::<TrashRecord>(self.view, &record)? {
                Look::Damaged => continue,
                Look::Found(found) if found.entries(id).any(|entry| entry == key) => continue,
                // Its record is rebuilt, with its entry.
                Look::Missing if self.is_kept(id)? => continue,
                Look::Found(_) | Look::Missing => {}
            }
            let fix = delete_while_same(self.view, &key, record)?;
            report.derivable(Finding::new(Kind::Index, id, detail), fix)?;
        }
        Ok(())
    }

    /// Whether a resource was removed, and no job sweeps it.
    fn is_kept(&self, id: ResourceId) -> Result<bool> {
        let is_removed = match look::<Resource>(self.view, &keys::resource(id))? {
            // Reported with the tree.
            Look::Damaged => true,
            Look::Missing => false,
            Look::Found(resource) => resource.parent == ResourceId::REMOVED,
        };
        Ok(is_removed && !self.jobs.swept.contains(&id))
    }
}
