//! The descriptions of versions: each has its rows, no rows are left of deleted ones, and a resource refers to its newest version
//! if that is kept as a difference to the current description. Their contents are checked with the others.

use std::collections::BTreeMap;

use super::report::{Look, Report, delete_while_same, look, path_of, rows, while_same};
use super::{Finding, FindingKind as Kind};
use crate::Result;
use crate::catalog::{DifferenceRecord, Reads, Record, VersionRecord, View, keys};
use crate::model::{Resource, ResourceId};

pub(super) fn check(view: &View, report: &mut Report<'_>) -> Result<()> {
    leftovers(view, report)?;
    let newest = newest(view, report)?;
    for row in rows(view, &keys::resources()) {
        let (key, value) = row?;
        let id = ResourceId(keys::first_id(&key).unwrap_or_default());
        // Undecodable resources are reported with the tree.
        let Ok(resource) = Resource::from_value(&value) else { continue };
        let compared = match newest.get(&id) {
            Some(Newest::Unknown) => continue,
            Some(Newest::Compared(version)) => Some(*version),
            Some(Newest::Whole) | None => None,
        };
        if resource.compared_version != compared {
            let detail = "it does not refer to the version that differs from its description";
            let fixed = Resource { compared_version: compared, ..resource };
            let finding = Finding::new(Kind::Reference, id, detail).at(path_of(view, id));
            let fix = while_same(vec![(key.clone(), Some(value))], move |tx| {
                tx.put(key.clone(), &fixed);
            });
            report.derivable(finding, fix)?;
        }
    }
    report.flush()
}

/// How the newest version of a resource is kept.
enum Newest {
    Whole,
    Compared(u64),
    /// Something of it is damaged.
    Unknown,
}

/// The newest version of each resource. Reports those without rows.
fn newest(view: &View, report: &mut Report<'_>) -> Result<BTreeMap<ResourceId, Newest>> {
    let mut newest = BTreeMap::new();
    for row in rows(view, &keys::all_versions()) {
        let (key, value) = row?;
        let id = ResourceId(keys::first_id(&key).unwrap_or_default());
        let version = keys::last_id(&key).unwrap_or_default();
        // Undecodable contents are reported with the contents.
        let kept = match VersionRecord::from_value(&value) {
            Err(_) => Newest::Unknown,
            Ok(record) if !record.is_apart => Newest::Whole,
            Ok(_) if !view.has(&keys::resource(id))? => continue,
            Ok(_) => apart(view, report, id, version)?,
        };
        newest.insert(id, kept);
    }
    Ok(newest)
}

fn apart(view: &View, report: &mut Report<'_>, id: ResourceId, version: u64) -> Result<Newest> {
    let Some((_, value)) = view.rows(&keys::differences(id, version), 1)?.pop() else {
        let detail = format!("the description of version {version} is missing");
        report.lost(Finding::new(Kind::DamagedRecord, id, detail).at(path_of(view, id)))?;
        return Ok(Newest::Unknown);
    };
    Ok(match DifferenceRecord::from_value(&value) {
        Ok(row) if row.is_whole => Newest::Whole,
        Ok(_) => Newest::Compared(version),
        Err(_) => Newest::Unknown,
    })
}

/// Rows of deleted versions, and rows that do not decode.
fn leftovers(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::all_differences()) {
        let (key, value) = row?;
        let id = ResourceId(keys::first_id(&key).unwrap_or_default());
        let version = keys::difference_version(&key);
        let record = keys::version(id, version);
        if let Look::Missing = look::<VersionRecord>(view, &record)? {
            let detail = format!("a description of version {version}, which is missing");
            let fix = delete_while_same(view, &key, record)?;
            report.derivable(Finding::new(Kind::Leftover, id, detail), fix)?;
        } else if DifferenceRecord::from_value(&value).is_err() {
            let detail = format!("the description of version {version} does not decode");
            report.lost(Finding::new(Kind::DamagedRecord, id, detail).at(path_of(view, id)))?;
        }
    }
    Ok(())
}
