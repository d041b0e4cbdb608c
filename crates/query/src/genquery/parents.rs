//! The collections that the objects of an answer are in, each looked up once.

use std::collections::HashMap;

use cenote_store::{At, Reading, ResourceId, Stat};

use crate::Result;

/// The collections that objects are in, as far as they were looked up.
pub(super) struct Parents<'a> {
    reading: &'a Reading,
    known: HashMap<ResourceId, Option<Stat>>,
}

impl<'a> Parents<'a> {
    pub(super) fn of(reading: &'a Reading) -> Self {
        Self { reading, known: HashMap::new() }
    }

    pub(super) fn get(&mut self, id: ResourceId) -> Result<Option<Stat>> {
        if let Some(known) = self.known.get(&id) {
            return Ok(known.clone());
        }
        let stat = self.reading.stat(&At::Id(id))?;
        self.known.insert(id, stat.clone());
        Ok(stat)
    }
}
