//! A request within a change set.

use std::ops::Deref;
use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;

use super::held::OpenChangeSet;
use crate::{Result, Store};

/// A request within a change set: the store as that sees it.
#[derive(Debug)]
pub struct Within {
    store: Store,
    held: Arc<OpenChangeSet>,
    _request: OwnedMutexGuard<()>,
}

impl Within {
    pub(super) async fn enter(store: &Store, held: Arc<OpenChangeSet>) -> Result<Self> {
        held.touch(store.now());
        let request = held.request.clone().lock_owned().await;
        held.touch(store.now());
        held.require_open()?;
        let store = Store { inner: store.inner.clone(), within: Some(held.clone()), moment: None };
        Ok(Self { store, held, _request: request })
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
        self.held.touch(self.store.now());
    }
}
