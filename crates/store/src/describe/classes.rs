//! The classes of resources in their records, where access lists look for them.
//!
//! Invariant: they are those of the description, since the same commit records them; and the change feed reports
//! to whoever sees the resource by its former classes that these changed.

use crate::catalog::{ChangeKind, ChangeRecord, Reads, Transaction, keys};
use crate::metadata::classes;
use crate::model::{Access, Classes, Resource, ResourceId};
use crate::resources::rewrite_record;
use crate::{Error, ErrorKind, Result};

/// The most classes of one resource: its record, which is read with every resource below, has all of them.
const MAX_CLASSES: usize = 1_000;

/// Records the classes of what the transaction described to have others.
///
/// # Errors
/// [`ErrorKind::TooLarge`] for more than 1,000 classes.
pub(crate) fn record_classes(tx: &mut Transaction) -> Result<()> {
    for (id, known) in std::mem::take(&mut tx.reclassified) {
        let id = ResourceId(id);
        // It may be a person or a place, or have been removed by the same transaction.
        let Some(old) = tx.get::<Resource>(&keys::resource(id))? else { continue };
        let classes = known.map_or_else(|| classes(tx, id.0), Ok)?;
        if classes == old.access.classes {
            continue;
        }
        require_few(&classes, &old.access.classes)?;
        let access = Access { classes, ..old.access.clone() };
        let new = Resource { access, ..old.clone() };
        rewrite_record(tx, id, &old, &new);
        announce(tx, id, &old.access, &new.access)?;
    }
    Ok(())
}

fn require_few(classes: &Classes, before: &Classes) -> Result<()> {
    match classes.len() > MAX_CLASSES.max(before.len()) {
        true => Err(Error::new(ErrorKind::TooLarge, "a resource has at most 1,000 classes")),
        false => Ok(()),
    }
}

/// Adds the new access to the change that the transaction announces.
fn announce(tx: &mut Transaction, id: ResourceId, before: &Access, now: &Access) -> Result<()> {
    tx.amend(&keys::feed(), |change: &mut ChangeRecord| {
        if change.id != id {
            return;
        }
        if let Some(access) = &mut change.access {
            access.classes.clone_from(&now.classes);
        }
        if change.kind != ChangeKind::Created && change.access_before.is_none() {
            change.access_before = Some(before.clone());
        }
    })
}
