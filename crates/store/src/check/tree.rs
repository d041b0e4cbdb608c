//! Resources and the entries of their collections.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;

use super::report::{Look, Report, delete_while_same, look, path_of, rows, while_same};
use super::{Finding, FindingKind as Kind, trash};
use crate::catalog::{Child, JobRecord, Reads, Record, View, keys};
use crate::model::{self, Resource, ResourceId, Time};
use crate::{Result, Store};

pub(super) fn check(view: &View, report: &mut Report<'_>) -> Result<()> {
    let damaged = entries(view, report)?;
    let (jobs, kept) = (jobs(view, report)?, trash::expires(view)?);
    let mut tree = Tree { view, damaged, jobs, kept, reached: HashMap::new() };
    for row in rows(view, &keys::resources()) {
        let (key, value) = row?;
        let id = ResourceId(keys::first_id(&key).unwrap_or_default());
        match Resource::from_value(&value) {
            Ok(resource) => tree.resource(report, id, resource, &key, &value)?,
            Err(fault) => report.lost(Finding::new(
                Kind::DamagedRecord,
                id,
                format!("the record of a resource: {fault}"),
            ))?,
        }
    }
    for key in tree.damaged {
        let detail = "an entry does not decode, and no resource has its name";
        let seen = vec![(key.clone(), view.value(&key)?)];
        let finding = Finding::new(Kind::Entry, keys::first_id(&key).unwrap_or_default(), detail);
        report.derivable(finding, while_same(seen, move |tx| tx.delete(key.clone())))?;
    }
    report.flush()
}

/// Checks that each entry leads to an existing resource; returns those that do not decode.
fn entries(view: &View, report: &mut Report<'_>) -> Result<HashSet<Bytes>> {
    let mut damaged = HashSet::new();
    for row in rows(view, &keys::all_children()) {
        let (key, value) = row?;
        let Ok(child) = Child::from_value(&value) else {
            damaged.insert(key);
            continue;
        };
        let resource = keys::resource(child.id);
        let detail = match look::<Resource>(view, &resource)? {
            Look::Damaged => continue,
            Look::Found(found) if keys::child(found.parent, &found.name) == key => continue,
            Look::Found(_) => "an entry leads to a resource with another location",
            Look::Missing => "an entry leads to nothing",
        };
        let parent = ResourceId(keys::first_id(&key).unwrap_or_default());
        let finding = Finding::new(Kind::Entry, child.id, detail).at(path_of(view, parent));
        report.derivable(finding, delete_while_same(view, &key, resource)?)?;
    }
    Ok(damaged)
}

/// The trees out of sight that a job will sweep, or is building.
fn jobs(view: &View, report: &mut Report<'_>) -> Result<HashSet<ResourceId>> {
    let mut sweeps = HashSet::new();
    for row in rows(view, &keys::jobs()) {
        let (key, value) = row?;
        match JobRecord::from_value(&value) {
            Ok(JobRecord::Sweep(root)) => drop(sweeps.insert(root)),
            Ok(JobRecord::Restore(job)) => drop(sweeps.insert(job.made)),
            Ok(_) => {}
            Err(fault) => {
                let id = keys::first_id(&key).unwrap_or_default();
                let detail = format!("the record of a job: {fault}");
                let fix = while_same(vec![(key.clone(), Some(value))], move |tx| {
                    tx.delete(key.clone());
                });
                report.derivable(Finding::new(Kind::DamagedRecord, id, detail), fix)?;
            }
        }
    }
    Ok(sweeps)
}

struct Tree<'a> {
    view: &'a View,
    damaged: HashSet<Bytes>,
    jobs: HashSet<ResourceId>,
    /// The items of the trash in the order of expiry.
    kept: HashMap<ResourceId, Time>,
    /// Collections from which the root, or the parent of removed resources, was reached or not.
    reached: HashMap<ResourceId, bool>,
}

impl Tree<'_> {
    fn resource(
        &mut self,
        report: &mut Report<'_>,
        id: ResourceId,
        resource: Resource,
        key: &Bytes,
        value: &Bytes,
    ) -> Result<()> {
        if id == ResourceId::ROOT {
            return Ok(());
        }
        if resource.parent == ResourceId::REMOVED {
            return self.removed(report, id, key, value);
        }
        let entry = keys::child(resource.parent, &resource.name);
        self.damaged.remove(&entry);
        if !self.reaches(resource.parent)? {
            let detail = format!("its collection {} is not in the tree", resource.parent);
            return report.lost(Finding::new(Kind::Unreachable, id, detail));
        }
        self.entry(report, id, &resource, entry, (key, value))
    }

    fn removed(
        &self,
        report: &mut Report<'_>,
        id: ResourceId,
        key: &Bytes,
        value: &Bytes,
    ) -> Result<()> {
        let is_kept = self.kept.contains_key(&id) || self.view.has(&keys::trash(id))?;
        // Kept resources are checked with the trash.
        if self.jobs.contains(&id) || is_kept {
            return Ok(());
        }
        let job = keys::job(report.store.new_id()?);
        let seen = vec![(key.clone(), Some(value.clone()))];
        let fix = while_same(seen, move |tx| tx.put(job.clone(), &JobRecord::Sweep(id)));
        report.derivable(Finding::new(Kind::Job, id, "it was removed, but no job sweeps it"), fix)
    }

    fn entry(
        &self,
        report: &mut Report<'_>,
        id: ResourceId,
        resource: &Resource,
        entry: Bytes,
        (key, value): (&Bytes, &Bytes),
    ) -> Result<()> {
        let child = Child { id, kind: resource.kind };
        let detail = match look::<Child>(self.view, &entry)? {
            Look::Found(found) if found == child => return Ok(()),
            Look::Found(other) if other.id != id => {
                let detail = format!("its name leads to resource {}", other.id);
                return report.lost(Finding::new(Kind::Entry, id, detail));
            }
            Look::Found(_) => "its entry has another kind",
            Look::Damaged => "its entry does not decode",
            Look::Missing => "it has no entry in its collection",
        };
        let before = self.view.value(&entry)?;
        let seen = vec![(key.clone(), Some(value.clone())), (entry.clone(), before)];
        let fix = while_same(seen, move |tx| tx.put(entry.clone(), &child));
        report.derivable(Finding::new(Kind::Entry, id, detail).at(path_of(self.view, id)), fix)
    }

    /// Whether a chain of collections leads up from `id`.
    fn reaches(&mut self, id: ResourceId) -> Result<bool> {
        let mut way = Vec::new();
        let mut next = id;
        let answer = loop {
            if next == ResourceId::ROOT || next == ResourceId::REMOVED {
                break true;
            }
            if let Some(known) = self.reached.get(&next) {
                break *known;
            }
            // Resources in a cycle count as not reached.
            self.reached.insert(next, false);
            way.push(next);
            match look::<Resource>(self.view, &keys::resource(next))? {
                Look::Found(resource) if resource.kind == model::Kind::Collection => {
                    next = resource.parent;
                }
                // Reported at the damaged record; resources below are not reported as lost again.
                Look::Damaged => break true,
                _ => break false,
            }
        };
        self.reached.extend(way.into_iter().map(|id| (id, answer)));
        Ok(answer)
    }
}

/// Checks that no id in use will be assigned again.
pub(super) fn next_id(store: &Store, view: &View, report: &mut Report<'_>) -> Result<()> {
    let mut most = 0;
    let tables = [
        keys::resources(),
        keys::contents(),
        keys::persons(),
        keys::places(),
        keys::uploads(),
        keys::jobs(),
    ];
    for table in tables {
        let last = view.snapshot.scan(&table, cenote_kv::ScanOptions::limit(1).reversed()).next();
        if let Some((key, _)) = last.transpose()? {
            most = most.max(keys::first_id(&key).unwrap_or_default());
        }
    }
    let key = keys::setting("next-id");
    let next = crate::ids::next_id(view)?;
    if next > most {
        return Ok(());
    }
    let seen = vec![(key.clone(), view.value(&key)?)];
    let fix = while_same(seen, move |tx| crate::ids::set_next_id(tx, most + 1));
    store.inner.ids.forget();
    report.derivable(Finding::new(Kind::NextId, next, format!("id {most} is in use")), fix)?;
    report.flush()
}
