//! Descriptions of places: attributes, as of resources.

use super::known::{no_place, records};
use crate::access::Act;
use crate::catalog::Reads;
use crate::model::{Avu, PlaceId};
use crate::{AvuChange, Caller, Result, Store, metadata};

impl Store {
    /// The attributes of a place.
    pub fn place_avus(&self, id: PlaceId) -> Result<Vec<Avu>> {
        let view = self.view()?;
        require_place(&view, id)?;
        Ok(metadata::avus(&metadata::read(&view, id.0)?))
    }

    /// Changes the attributes of a place: all of it or nothing. Needs [`Act::Places`].
    pub fn change_place_avus(
        &self,
        caller: &Caller,
        id: PlaceId,
        changes: &[AvuChange],
    ) -> Result<()> {
        caller.require(Act::Places)?;
        self.transact(|tx| {
            require_place(tx, id)?;
            metadata::change_attributes(tx, id.0, changes)
        })
    }
}

fn require_place(reads: &impl Reads, id: PlaceId) -> Result<()> {
    match records(reads)?.iter().any(|(known, _)| *known == id) {
        true => Ok(()),
        false => Err(no_place(&format!("#{id}"))),
    }
}
