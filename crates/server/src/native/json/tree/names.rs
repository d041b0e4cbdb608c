//! Data for answers that is not in the records of resources: names of users, memberships of collections.

use std::collections::HashMap;

use cenote_store::{Caller, Kind, Membership, PersonId, ResourceId, Result, Stat, Store};

/// The names that one answer needs; each is looked up once.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    store: &'a Store,
    known: HashMap<PersonId, String>,
    memberships: HashMap<ResourceId, Membership>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        Self { store, known: HashMap::new(), memberships: HashMap::new() }
    }

    /// The same for an answer to this caller, who owns most of what they ask for.
    pub(crate) fn for_caller(store: &'a Store, caller: &Caller) -> Self {
        let mut names = Self::new(store);
        names.known.insert(caller.user(), caller.name().to_owned());
        names
    }

    pub(crate) fn store(&self) -> &'a Store {
        self.store
    }

    /// The name of a user or group; `#id` for a removed one.
    pub(crate) fn of(&mut self, id: PersonId) -> Result<String> {
        if let Some(name) = self.known.get(&id) {
            return Ok(name.clone());
        }
        let name = self.store.person_name(id)?;
        self.known.insert(id, name.clone());
        Ok(name)
    }

    /// Reads the memberships of all that are collections at once.
    pub(crate) fn read_memberships(&mut self, of: &[Stat]) -> Result<()> {
        let found = self.store.memberships(of)?.into_iter().flatten();
        self.memberships.extend(found.map(|membership| (membership.collection, membership)));
        Ok(())
    }

    /// The membership of a collection; none for other resources.
    pub(crate) fn membership(&mut self, of: &Stat) -> Result<Option<Membership>> {
        if of.resource.kind != Kind::Collection {
            return Ok(None);
        }
        if !self.memberships.contains_key(&of.id) {
            self.read_memberships(std::slice::from_ref(of))?;
        }
        Ok(self.memberships.get(&of.id).copied())
    }
}
