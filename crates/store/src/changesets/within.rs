//! A request within a change set.

use std::ops::Deref;
use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;

use super::change_set::OpenChangeSet;
use crate::{Result, Store};

/// A request within a change set: the store as that sees it.
#[derive(Debug)]
pub struct Within {
    store: Store,
    set: Arc<OpenChangeSet>,
    _request: OwnedMutexGuard<()>,
}

impl Within {
    pub(super) async fn enter(store: &Store, set: Arc<OpenChangeSet>) -> Result<Self> {
        set.touch(store.now());
        let request = set.request.clone().lock_owned().await;
        set.touch(store.now());
        set.require_open()?;
        let store = Store { inner: store.inner.clone(), within: Some(set.clone()), moment: None };
        Ok(Self { store, set, _request: request })
    }
}

impl Deref for Within {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        self.set.touch(self.store.now());
    }
}
