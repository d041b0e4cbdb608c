//! What is said of users and groups: attributes, as of resources.

use super::account::{by_name, nobody, require_role};
use crate::model::{Avu, Role};
use crate::{AvuChange, Caller, Result, Store, metadata};

impl Store {
    /// The attributes of a user or group.
    pub fn person_avus(&self, name: &str) -> Result<Vec<Avu>> {
        let view = self.view()?;
        let (id, _) = by_name(&view, name)?.ok_or_else(|| nobody(name))?;
        Ok(metadata::avus(&metadata::read(&view, id.0)?))
    }

    /// Changes the attributes of a user or group: all of it or nothing. Needs [`Role::Admin`].
    pub fn change_person_avus(
        &self,
        caller: &Caller,
        name: &str,
        changes: &[AvuChange],
    ) -> Result<()> {
        require_role(caller, Role::Admin)?;
        self.transact(|tx| {
            let (id, _) = by_name(tx, name)?.ok_or_else(|| nobody(name))?;
            metadata::change_attributes(tx, id.0, changes)
        })
    }
}
