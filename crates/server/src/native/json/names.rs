//! People go by name on the wire, and by id in records.

use std::collections::HashMap;

use cenote_store::{PersonId, Result, Store};

/// The names that one answer needs; each is looked up once.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    store: &'a Store,
    known: HashMap<PersonId, String>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        Self { store, known: HashMap::new() }
    }

    pub(crate) fn store(&self) -> &'a Store {
        self.store
    }

    /// The name of a user or group; `#id` for one that is gone.
    pub(crate) fn of(&mut self, id: PersonId) -> Result<String> {
        if let Some(name) = self.known.get(&id) {
            return Ok(name.clone());
        }
        let name = self.store.person_name(id)?;
        self.known.insert(id, name.clone());
        Ok(name)
    }
}
