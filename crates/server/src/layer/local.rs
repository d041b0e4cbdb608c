//! A caller whom the process itself vouches for, because it runs the router for a directory of its
//! own: whoever can open the directory owns what is in it.

use cenote_store::{Caller, Error, ErrorKind, Result, Role, Store};

/// Put into the extensions of a request by code of this process, it is believed without a
/// credential; no byte from a network can become one.
#[derive(Debug, Clone)]
pub struct LocalCaller(Caller);

impl LocalCaller {
    /// The store's first administrator.
    pub fn administrator(store: &Store) -> Result<Self> {
        let persons = store.persons()?;
        let administrators = persons.iter().filter(|(_, person)| person.role == Role::Admin);
        let first = administrators.map(|(id, _)| *id).min();
        let missing = || Error::new(ErrorKind::NotFound, "the store has no administrator");
        store.caller_for(first.ok_or_else(missing)?).map(Self)
    }

    /// The user of this name.
    pub fn named(store: &Store, name: &str) -> Result<Self> {
        let (id, _) = store.person_named(name)?;
        store.caller_for(id).map(Self)
    }

    pub(super) fn into_caller(self) -> Caller {
        self.0
    }
}
