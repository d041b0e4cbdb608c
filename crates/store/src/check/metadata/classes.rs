//! The classes in the records of resources, computed again from their descriptions.

use crate::Result;
use crate::catalog::{Reads, Record, View, keys};
use crate::check::report::{Look, Report, look, path_of, rows, while_same};
use crate::check::{Finding, FindingKind as Kind};
use crate::model::{Access, Classes, Resource, ResourceId};

/// Compares the record of a resource with the classes that its description has.
pub(super) fn compare(
    view: &View,
    report: &mut Report<'_>,
    id: ResourceId,
    described: &Classes,
) -> Result<()> {
    let key = keys::resource(id);
    // Undecodable resources are reported with the tree; people and places have no classes.
    let Look::Found(resource) = look::<Resource>(view, &key)? else { return Ok(()) };
    if resource.access.classes == *described {
        return Ok(());
    }
    let detail = "the classes in the record are not those of the description";
    let finding = Finding::new(Kind::Index, id, detail).at(path_of(view, id));
    let graph = keys::graph(id.0);
    let seen = vec![(key.clone(), view.value(&key)?), (graph.clone(), view.value(&graph)?)];
    let access = Access { classes: described.clone(), ..resource.access.clone() };
    let mended = Resource { access, ..resource };
    let fix = while_same(seen, move |tx| tx.put(key.clone(), &mended));
    report.derivable(finding, fix)
}

/// Records with classes of resources without a description.
pub(super) fn undescribed(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::resources()) {
        let (key, value) = row?;
        let id = ResourceId(keys::first_id(&key).unwrap_or_default());
        let Ok(resource) = Resource::from_value(&value) else { continue };
        if !resource.access.classes.is_empty() && !view.has(&keys::graph(id.0))? {
            compare(view, report, id, &Classes::default())?;
        }
    }
    Ok(())
}
