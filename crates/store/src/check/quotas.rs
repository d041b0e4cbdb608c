//! Quotas: the subject of each exists and refers to it; the counters are compared with a recount.

use super::report::{Look, Report, look, rows, while_same};
use super::{Finding, FindingKind as Kind};
use crate::Result;
use crate::catalog::{JobRecord, QuotaKind, QuotaRecord, Reads, Record, Transaction, View, keys};
use crate::model::{Counting, PersonId, Resource, ResourceId};

pub(super) fn check(view: &View, report: &mut Report<'_>) -> Result<()> {
    let (mut in_use, mut owners) = (false, false);
    for row in rows(view, &keys::quotas()) {
        let (key, value) = row?;
        let id = keys::first_id(&key).unwrap_or_default();
        match QuotaRecord::from_value(&value) {
            Ok(record) => {
                in_use = true;
                owners |= record.kind != QuotaKind::Collection;
                quota(view, report, id, record, &value)?;
            }
            Err(fault) => {
                let detail = format!("the record of a quota: {fault}");
                let fix =
                    while_same(vec![(key.clone(), Some(value))], move |tx| tx.delete(key.clone()));
                report.derivable(Finding::new(Kind::DamagedRecord, id, detail), fix)?;
            }
        }
    }
    for row in rows(view, &keys::resources()) {
        let (key, value) = row?;
        // Undecodable records are reported with the tree.
        let Ok(resource) = Resource::from_value(&value) else { continue };
        collection(view, report, (key, value), &resource)?;
    }
    // After the repairs of the root itself.
    report.flush()?;
    marks(view, report, in_use, owners)?;
    report.flush()
}

/// If there is a quota, the root is marked; otherwise quotas are not looked up.
fn marks(view: &View, report: &mut Report<'_>, in_use: bool, owners: bool) -> Result<()> {
    let key = keys::resource(ResourceId::ROOT);
    // An undecodable root is reported with the tree.
    let Look::Found(root) = look::<Resource>(view, &key)? else { return Ok(()) };
    let noted = root.counting.clone().unwrap_or_default();
    if (noted.in_use || !in_use) && (noted.owners || !owners) {
        return Ok(());
    }
    let fix = move |tx: &mut Transaction| -> Result<bool> {
        // Other repairs and concurrent changes of it are kept.
        let Some(root) = tx.get::<Resource>(&key)? else { return Ok(false) };
        let noted = root.counting.clone().unwrap_or_default();
        let (in_use, owners) = (noted.in_use || in_use, noted.owners || owners);
        let counting = Some(Counting { in_use, owners, ..noted });
        tx.put(key.clone(), &Resource { counting, ..root });
        Ok(true)
    };
    let detail = "there are quotas, but the root is not marked as having them";
    report.derivable(Finding::new(Kind::Reference, ResourceId::ROOT, detail), fix)
}

/// A quota without its collection limits nothing; one that its collection does not know of counts nothing.
fn quota(
    view: &View,
    report: &mut Report<'_>,
    id: u64,
    record: QuotaRecord,
    value: &bytes::Bytes,
) -> Result<()> {
    let key = keys::quota(id);
    let seen = |more: Option<bytes::Bytes>| {
        vec![(key.clone(), Some(value.clone())), (keys::resource(ResourceId(id)), more)]
    };
    if record.counting && record.count != 0 && !view.has(&keys::job(record.count))? {
        let count = record.count;
        let fix = while_same(vec![(key.clone(), Some(value.clone()))], move |tx| {
            tx.put(keys::job(count), &JobRecord::Count(id));
        });
        report.derivable(Finding::new(Kind::Job, id, "no job counts a quota"), fix)?;
    }
    if record.kind != QuotaKind::Collection {
        let person = view.value(&keys::person(PersonId(id)))?;
        if person.is_some() {
            return Ok(());
        }
        let seen = vec![(key.clone(), Some(value.clone())), (keys::person(PersonId(id)), person)];
        let fix = while_same(seen, move |tx| tx.delete(keys::quota(id)));
        let finding = Finding::new(Kind::Reference, id, "the quota of a missing user or group");
        return report.derivable(finding, fix);
    }
    let there = view.value(&keys::resource(ResourceId(id)))?;
    let Some(old) = there.as_ref().map(|it| Resource::from_value(it)).transpose().unwrap_or(None)
    else {
        let fix = while_same(seen(there), move |tx| tx.delete(keys::quota(id)));
        let finding = Finding::new(Kind::Reference, id, "the quota of a missing collection");
        return report.derivable(finding, fix);
    };
    let counting = old.counting.clone().unwrap_or_default();
    if counting.quota == Some(record.count) {
        return Ok(());
    }
    let fix = while_same(seen(there), move |tx| {
        let counting = Some(Counting { quota: Some(record.count), ..counting.clone() });
        tx.put(keys::resource(ResourceId(id)), &Resource { counting, ..old.clone() });
        tx.put(keys::quota(id), &QuotaRecord { counting: true, ..record.clone() });
        tx.put(keys::job(record.count), &JobRecord::Count(id));
    });
    let finding =
        Finding::new(Kind::Reference, id, "a quota that its collection does not refer to");
    report.derivable(finding, fix)
}

/// A collection marked as having a quota has one.
fn collection(
    view: &View,
    report: &mut Report<'_>,
    (key, value): (bytes::Bytes, bytes::Bytes),
    resource: &Resource,
) -> Result<()> {
    let counting = resource.counting.clone().unwrap_or_default();
    let id = keys::first_id(&key).unwrap_or_default();
    if counting.quota.is_none() || view.has(&keys::quota(id))? {
        return Ok(());
    }
    let fixed =
        Resource { counting: Counting { quota: None, ..counting }.or_none(), ..resource.clone() };
    let seen = vec![(key.clone(), Some(value)), (keys::quota(id), None)];
    let fix = while_same(seen, move |tx| tx.put(key.clone(), &fixed));
    report.derivable(Finding::new(Kind::Reference, id, "it refers to a missing quota"), fix)
}
