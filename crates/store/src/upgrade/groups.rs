//! From format 7 to 8: the groups of users are in their records, and no longer in a table.

use cenote_kv::KeyRange;

use super::STEP;
use crate::catalog::{Reads, Transaction, keys};
use crate::model::PersonId;
use crate::people::record_group;
use crate::{Bytes, ErrorKind, Result, Store};

/// The table of the groups of users.
const MEMBERSHIPS: &str = "m";

impl Store {
    pub(super) fn record_groups(&self) -> Result<()> {
        let members = self.view()?.rows(&keys::all_members(), usize::MAX)?;
        for some in members.chunks(STEP) {
            self.transact(|tx| some.iter().try_for_each(|(member, _)| enter_group(tx, member)))?;
        }
        self.clear(&KeyRange::prefix(MEMBERSHIPS))
    }
}

/// Adds the group of a row of members to the record of the user. One that does not decode is left to the check.
fn enter_group(tx: &mut Transaction, member: &Bytes) -> Result<()> {
    let [group, user] = [keys::first_id(member), keys::last_id(member)];
    let id = |id: Option<u64>| PersonId(id.unwrap_or_default());
    match record_group(tx, id(user), id(group)) {
        Err(error) if error.kind() == ErrorKind::Damaged => Ok(()),
        recorded => recorded,
    }
}
