//! A caller whom the process itself vouches for, because it runs the router for a directory of its
//! own: whoever can open the directory owns what is in it.

use cenote_store::{Caller, Result, Store};

/// Put into the extensions of a request by code of this process, it is believed without a
/// credential; no byte from a network can become one.
#[derive(Debug, Clone)]
pub struct LocalCaller(Caller);

impl LocalCaller {
    /// The store's first administrator. A store without one has its first user act as one.
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
