//! From format 7 to 8: the index by object has IRIs only, and a row for all statements of a description with one.

use crate::catalog::keys;
use crate::{Result, Store};

impl Store {
    /// Rebuilds that index, unless an earlier step has just done so.
    pub(super) fn index_objects(&self, from: u32) -> Result<()> {
        if from >= 6 {
            let table = keys::all_objects();
            self.clear(&table)?;
            self.mark_entries(|entry| table.contains(entry))?;
        }
        Ok(())
    }
}
