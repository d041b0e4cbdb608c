//! The store: what holds the two seams together, and runs transactions.
//!
//! Invariant: a change is one batch on the catalog, and a content is durable before
//! the batch that refers to it; so whatever is acknowledged is whole.

use std::sync::Arc;

use cenote_blob::{BlobId, Place};
use cenote_kv::{CommitError, Engine};
use tokio::sync::Notify;

use crate::catalog::{Transaction, View};
use crate::contents::Limits;
use crate::ids::Ids;
use crate::model::Time;
use crate::people::CredentialCache;
use crate::{Clock, Entropy, Error, ErrorKind, Result, SystemClock, SystemEntropy};

/// What a store is made of.
#[derive(Debug, Clone)]
pub struct Parts {
    /// The catalog.
    pub engine: Arc<dyn Engine>,
    /// The places for contents; new contents go to the first.
    pub places: Vec<Place>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Sizes.
    pub limits: Limits,
}

impl Parts {
    /// On this engine and place, with real time and randomness.
    pub fn new(engine: impl Engine, place: Place) -> Self {
        Self {
            engine: Arc::new(engine),
            places: vec![place],
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SystemEntropy),
            limits: Limits::default(),
        }
    }
}

/// One store. Cloning is cheap; clones are the same store.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    parts: Parts,
    ids: Ids,
    pub(crate) credentials: CredentialCache,
    /// Rings when a job was recorded.
    pub(crate) work: Notify,
}

/// How often a change is tried again when others change the same things.
const ATTEMPTS: usize = 64;

impl Store {
    pub(crate) fn assemble(parts: Parts) -> Self {
        let credentials = CredentialCache::new(&*parts.entropy);
        let work = Notify::new();
        Self { inner: Arc::new(Inner { parts, ids: Ids::default(), credentials, work }) }
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.inner.parts
    }

    /// The place that new contents go to.
    pub(crate) fn place(&self) -> &Place {
        &self.inner.parts.places[0]
    }

    pub(crate) fn now(&self) -> Time {
        self.parts().clock.now()
    }

    pub(crate) fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.parts().entropy.fill(&mut bytes);
        bytes
    }

    pub(crate) fn new_blob_id(&self) -> BlobId {
        BlobId::from_bytes(self.random())
    }

    /// An id that was never given before.
    pub(crate) fn new_id(&self) -> Result<u64> {
        self.inner.ids.next(self)
    }

    /// Runs catalog work, which blocks, where that does no harm.
    pub(crate) async fn blocking<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Self) -> Result<T> + Send + 'static,
    {
        let store = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&store)).await;
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }

    /// A consistent view for one answer.
    pub(crate) fn view(&self) -> Result<View> {
        Ok(View(self.parts().engine.snapshot()?))
    }

    /// Runs `change` on a fresh snapshot and commits what it wrote; again, while
    /// others change what it read.
    pub(crate) fn transact<T>(
        &self,
        mut change: impl FnMut(&mut Transaction) -> Result<T>,
    ) -> Result<T> {
        for _ in 0..ATTEMPTS {
            let mut tx = Transaction::new(self.parts().engine.snapshot()?, self.now());
            let answer = change(&mut tx)?;
            if tx.is_empty() {
                return Ok(answer);
            }
            match self.parts().engine.commit(tx.into_batch(self.random())) {
                Ok(_) => return Ok(answer),
                Err(CommitError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::new(ErrorKind::Conflict, "too many concurrent changes to the same resource")
            .with_hint("try again"))
    }
}
