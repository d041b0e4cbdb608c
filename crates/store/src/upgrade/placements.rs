//! From format 8 to 9: the record of an object says where its content is, also if nobody named a place.

use super::STEP;
use crate::catalog::{Reads, Record, Transaction, keys};
use crate::contents::resolve;
use crate::model::{ContentHead, Placement, Resource, ResourceId};
use crate::resources::rewrite_record;
use crate::{Bytes, ErrorKind, Result, Store};

impl Store {
    pub(super) fn record_placements(&self) -> Result<()> {
        let mut range = keys::resources();
        loop {
            let last = self.transact(|tx| {
                let rows = tx.rows(&range, STEP)?;
                rows.iter().try_for_each(|(key, value)| self.record_placement(tx, key, value))?;
                Ok(rows.last().map(|(key, _)| key.clone()).filter(|_| rows.len() == STEP))
            })?;
            match last {
                Some(last) => range = range.after(&last),
                None => return Ok(()),
            }
        }
    }

    /// Records and counts it, unless it was before. Undecodable records are left to the check.
    fn record_placement(&self, tx: &mut Transaction, key: &Bytes, value: &Bytes) -> Result<()> {
        let Ok(old) = Resource::from_value(value) else { return Ok(()) };
        if let Some(head) = old.content.as_ref().filter(|_| old.placement.is_empty()) {
            let new = Resource { placement: self.placement_of(tx, head)?, ..old.clone() };
            rewrite_record(tx, ResourceId(keys::first_id(key).unwrap_or_default()), &old, &new);
        }
        Ok(())
    }

    fn placement_of(&self, tx: &Transaction, head: &ContentHead) -> Result<Placement> {
        match resolve(tx, head) {
            // Nobody knows any more where its parts are; the check reports it.
            Err(error) if error.kind() == ErrorKind::Damaged => self.former_placement(tx, &[]),
            extents => self.former_placement(tx, &extents?),
        }
    }
}
