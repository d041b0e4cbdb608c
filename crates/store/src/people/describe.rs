//! The descriptions of users and groups: attributes, as for resources.

use super::account::{by_name, nobody};
use crate::model::Avu;
use crate::{Act, AvuChange, Caller, Result, Store, metadata};

impl Store {
    /// The attributes of a user or group.
    pub fn person_avus(&self, name: &str) -> Result<Vec<Avu>> {
        let view = self.view()?;
        let (id, _) = by_name(&view, name)?.ok_or_else(|| nobody(name))?;
        Ok(metadata::avus(&metadata::read(&view, id.0)?))
    }

    /// Changes the attributes of a user or group: all of it or nothing. Needs [`Act::People`].
    pub fn change_person_avus(
        &self,
        caller: &Caller,
        name: &str,
        changes: &[AvuChange],
    ) -> Result<()> {
        caller.require(Act::People)?;
        self.transact(|tx| {
            let (id, _) = by_name(tx, name)?.ok_or_else(|| nobody(name))?;
            metadata::change_attributes(tx, id.0, changes)
        })
    }
}
