//! The parent collections of the objects in a result, each looked up once.

use std::collections::HashMap;

use cenote_store::{At, Reading, ResourceId, Stat};

use super::row::CollectionRow;
use crate::Result;

/// The parent collections looked up so far.
pub(crate) struct Parents<'a> {
    reading: &'a Reading,
    known: HashMap<ResourceId, Option<Stat>>,
}

impl<'a> Parents<'a> {
    pub(crate) fn of(reading: &'a Reading) -> Self {
        Self { reading, known: HashMap::new() }
    }

    /// The collection of an object; if the caller may not see it, only what the object's path reveals.
    pub(crate) fn of_object(&mut self, object: &Stat) -> Result<CollectionRow> {
        let id = object.resource.parent;
        let path = object.path.split_last().map(|(path, _)| path).unwrap_or_default();
        Ok(CollectionRow { id, path, stat: self.get(id)?, modified: None })
    }

    fn get(&mut self, id: ResourceId) -> Result<Option<Stat>> {
        if let Some(known) = self.known.get(&id) {
            return Ok(known.clone());
        }
        let stat = self.reading.stat(&At::Id(id))?;
        self.known.insert(id, stat.clone());
        Ok(stat)
    }
}
