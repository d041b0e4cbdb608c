//! Counting what there is already: on one snapshot, while others continue.
//!
//! Invariant: the commit that sets a quota makes all later ones add to its count, so what the count holds in a snapshot is what was
//! added since, and the rest of what the snapshot shows was there before. Only that rest is added.

use std::collections::BTreeSet;

use cenote_kv::ScanOptions;

use super::Delta;
use super::above::NOT_COUNTED;
use super::kept::{all_versions, versions_in, versions_of};
use super::settle::add;
use crate::catalog::keys::{self, Counter};
use crate::catalog::{Child, JobRecord, QuotaKind, QuotaRecord, Reads, Record, View};
use crate::model::{Counted, Counting, Kind, PersonId, Resource, ResourceId};
use crate::people::members_of;
use crate::waiting::go_on;
use crate::{Result, Store};

impl Store {
    /// Counts what was there when the quota of `id` was set, unless that is done.
    pub(crate) fn count_quota(&self, id: u64) -> Result<()> {
        let view = self.view()?;
        let Some(record) = view.get::<QuotaRecord>(&keys::quota(id))? else { return Ok(()) };
        if !record.counting || record.count == NOT_COUNTED {
            return Ok(());
        }
        let before = counted(&view, id, &record)? - held(&view, record.count)?;
        self.transact(|tx| {
            let Some(now) = tx.get::<QuotaRecord>(&keys::quota(id))? else { return Ok(()) };
            if now.counting && now.count == record.count {
                add(tx, now.count, before);
                tx.put(keys::quota(id), &QuotaRecord { counting: false, ..now });
                tx.delete(keys::job(record.count));
            }
            Ok(())
        })
    }
}

/// What a count holds.
pub(super) fn held(reads: &impl Reads, count: u64) -> Result<Delta> {
    let bytes = reads.counter(count, Counter::Bytes)?;
    Ok(Delta { bytes, resources: reads.counter(count, Counter::Resources)? })
}

fn counted(view: &View, id: u64, record: &QuotaRecord) -> Result<Delta> {
    match record.kind {
        QuotaKind::Collection => {
            let mut all = below(view, ResourceId(id))?;
            all += removed_from(view, Counted { of: id, count: record.count })?;
            Ok(all)
        }
        QuotaKind::User => owned(view, &[PersonId(id)]),
        QuotaKind::Group => owned(view, &members_of(view, PersonId(id))?),
    }
}

/// What these own, wherever it is.
///
/// Cost: all resources and versions of the store.
fn owned(view: &View, owners: &[PersonId]) -> Result<Delta> {
    let owners: BTreeSet<_> = owners.iter().collect();
    let mut all = Delta::default();
    for row in view.snapshot.scan(&keys::resources(), ScanOptions::default()) {
        go_on()?;
        let (key, value) = row?;
        let resource = Resource::from_value(&value)?;
        let is_root = keys::first_id(&key) == Some(ResourceId::ROOT.0);
        if !is_root && owners.contains(&resource.owner) {
            all += Delta::of(&resource);
        }
    }
    all_versions(view, |resource, bytes| {
        if owners.contains(&resource.owner) {
            all += Delta::bytes(bytes);
        }
    })?;
    Ok(all)
}

/// Everything below a resource.
///
/// Cost: the entries of the tree, and a scan for each object if there are versions.
pub(super) fn below(view: &View, top: ResourceId) -> Result<Delta> {
    let versions = !view.rows(&keys::all_versions(), 1)?.is_empty();
    let (mut all, mut left) = (Delta::default(), vec![top]);
    while let Some(id) = left.pop() {
        all += held(view, id.0)?;
        for row in view.snapshot.scan(&keys::children(id), ScanOptions::default()) {
            go_on()?;
            let child = Child::from_value(&row?.1)?;
            match child.kind {
                Kind::Collection => left.push(child.id),
                _ if versions => all += Delta::bytes(versions_in(view, child.id)?),
                _ => {}
            }
        }
    }
    Ok(all)
}

/// A resource with its versions and all below it.
pub(super) fn whole(view: &View, id: ResourceId, resource: &Resource) -> Result<Delta> {
    let mut all = itself(view, id, resource)?;
    all += below(view, id)?;
    Ok(all)
}

/// A resource with its versions.
pub(super) fn itself(reads: &impl Reads, id: ResourceId, resource: &Resource) -> Result<Delta> {
    let mut itself = Delta::of(resource);
    itself += Delta::bytes(versions_of(reads, id, resource)?);
    Ok(itself)
}

/// Removed trees that count for this until they are deleted.
fn removed_from(view: &View, counted: Counted) -> Result<Delta> {
    let mut all = Delta::default();
    for id in removed_tops(view)? {
        go_on()?;
        let Some(resource) = view.get::<Resource>(&keys::resource(id))? else { continue };
        let counts = |it: &Counting| it.removed_from.contains(&counted);
        if resource.parent == ResourceId::REMOVED && resource.counting.as_ref().is_some_and(counts)
        {
            all += whole(view, id, &resource)?;
        }
    }
    Ok(all)
}

/// The tops of removed trees: those in the trash, and those being swept.
fn removed_tops(view: &View) -> Result<BTreeSet<ResourceId>> {
    let mut tops = BTreeSet::new();
    for row in view.snapshot.scan(&keys::all_trash(), ScanOptions::default()) {
        tops.extend(keys::first_id(&row?.0).map(ResourceId));
    }
    for row in view.snapshot.scan(&keys::jobs(), ScanOptions::default()) {
        if let JobRecord::Sweep(top) = JobRecord::from_value(&row?.1)? {
            tops.insert(top);
        }
    }
    Ok(tops)
}
