//! What broke off while versions were moved into an object is finished: the newest version directory that has a whole inventory is the head.

use std::fs;
use std::path::Path;

use super::Object;
use super::draft::{inventory_files, sync, write as write_file};
use super::open::inventory_in;
use crate::fault::At;
use crate::{Algorithm, Fault, Faults, VersionNumber};

impl Object {
    /// Opens an object; if there are versions that its inventory does not list, or it was replaced incompletely, it is
    /// replaced by that of the newest version.
    ///
    /// # Errors
    /// What is wrong with it even then.
    pub fn open_settled(root: &Path) -> Result<Self, Faults> {
        let newest = newest(root)?;
        if let Some((number, text, algorithm)) = newest {
            let is_settled = inventory_in(root)
                .is_ok_and(|(_, inventory)| inventory.head.number() >= number.number());
            if !is_settled {
                write(root, algorithm, &text)?;
            }
        }
        Self::open(root)
    }
}

/// The newest version that has a whole inventory, whose head it is.
fn newest(root: &Path) -> Result<Option<(VersionNumber, Vec<u8>, Algorithm)>, Fault> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(root).at(root)? {
        let name = entry.at(root)?.file_name();
        numbers.extend(name.to_str().and_then(VersionNumber::parse));
    }
    numbers.sort_by_key(|number| std::cmp::Reverse(number.number()));
    let whole = numbers.into_iter().find_map(|number| {
        let (text, inventory) = inventory_in(&root.join(number.to_string())).ok()?;
        (inventory.head == number).then_some((number, text, inventory.algorithm))
    });
    Ok(whole)
}

/// Replaces the inventory in a directory and then its sidecar, each at once.
pub(super) fn write(directory: &Path, algorithm: Algorithm, text: &[u8]) -> Result<(), Fault> {
    for (path, bytes) in inventory_files(directory, algorithm, text) {
        let new = path.with_extension("new");
        write_file(&new, &bytes)?;
        fs::rename(&new, &path).at(&path)?;
    }
    sync(directory)
}
