//! The parent collections of the objects in a result, each looked up once.

use std::collections::HashMap;

use cenote_store::{At, ResourceId, Stat, StorePath};

use super::super::trash::is_in_trash;
use super::row::CollectionRow;
use super::source::Source;
use crate::Result;

/// The parent collections looked up so far.
pub(crate) struct Parents<'a, 'b> {
    source: &'a Source<'b>,
    known: HashMap<ResourceId, Option<Stat>>,
}

impl<'a, 'b> Parents<'a, 'b> {
    pub(crate) fn of(source: &'a Source<'b>) -> Self {
        Self { source, known: HashMap::new() }
    }

    /// The collection of an object; if the caller may not see it, only what the object's path reveals.
    pub(crate) fn of_object(&mut self, object: &Stat) -> Result<CollectionRow> {
        let id = object.resource.parent;
        let path = object.path.split_last().map(|(path, _)| path).unwrap_or_default();
        let stat = self.get(id, &path)?;
        Ok(CollectionRow { id, path, stat, modified: None })
    }

    fn get(&mut self, id: ResourceId, path: &StorePath) -> Result<Option<Stat>> {
        if let Some(known) = self.known.get(&id) {
            return Ok(known.clone());
        }
        let stat = match self.source.reading.stat(&At::Id(id))? {
            None if is_in_trash(path) => self.source.trash()?.stat(path)?,
            found => found,
        };
        self.known.insert(id, stat.clone());
        Ok(stat)
    }
}
