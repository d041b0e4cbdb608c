//! The index of grants, computed again from the access lists.

use super::report::{Look, Report, delete_while_same, look, path_of, rows, while_same};
use super::{Finding, FindingKind as Kind};
use crate::Result;
use crate::catalog::{Reads, Record, View, keys};
use crate::model::{Resource, ResourceId};
use crate::resources::grant_entries;

pub(super) fn check(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::resources()) {
        let (key, value) = row?;
        let id = ResourceId(keys::first_id(&key).unwrap_or_default());
        // Undecodable resources are reported with the tree.
        let Ok(resource) = Resource::from_value(&value) else { continue };
        for entry in grant_entries(id, &resource) {
            if view.has(&entry)? {
                continue;
            }
            let finding = Finding::new(Kind::Index, id, "a grant is not in the index");
            let seen = vec![(key.clone(), Some(value.clone()))];
            let fix = while_same(seen, move |tx| tx.mark(entry.clone()));
            report.derivable(finding.at(path_of(view, id)), fix)?;
        }
    }
    strays(view, report)?;
    report.flush()
}

fn strays(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::all_grants()) {
        let (key, _) = row?;
        let id = ResourceId(keys::last_id(&key).unwrap_or_default());
        let resource = keys::resource(id);
        let stray = match look::<Resource>(view, &resource)? {
            Look::Damaged => false,
            Look::Missing => true,
            Look::Found(found) => !grant_entries(id, &found).contains(&key),
        };
        if stray {
            let detail = "the index has a grant that is not in the access list";
            let finding = Finding::new(Kind::Index, id, detail).at(path_of(view, id));
            report.derivable(finding, delete_while_same(view, &key, resource)?)?;
        }
    }
    Ok(())
}
