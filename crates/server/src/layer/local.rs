//! A caller vouched for by the process itself, because it runs the router for a directory of its own: a process that
//! can open the directory owns everything in it.

use cenote_store::{Caller, Result, Store};

/// Trusted without a credential when code of this process puts it into the extensions of a request; nothing
/// received from a network can become one.
#[derive(Debug, Clone)]
pub struct LocalCaller(Caller);

impl LocalCaller {
    /// The store's first administrator; in a store without one, its first user, elevated.
    pub fn administrator(store: &Store) -> Result<Self> {
        store.directory_caller(None).map(Self)
    }

    /// The user of this name.
    pub fn named(store: &Store, name: &str) -> Result<Self> {
        store.directory_caller(Some(name)).map(Self)
    }

    pub(super) fn into_caller(self) -> Caller {
        self.0
    }
}
