//! A claim that ends by itself, however the work under it ends: with an answer, an error, a panic, or because it was cancelled.
//!
//! Invariant: the row of a claim is removed before this server lets anybody have the claim again, or it would remove the row of
//! somebody else. Removing it blocks, which the end of a task may not: until the next chance ([`Store::return_dropped`]) what was
//! dropped stays claimed.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::faults::Faults;
use crate::places::Claim;
use crate::{Bytes, Result, Store};

/// The right to make, rewrite or delete a copy of a blob that other servers may know, until its last clone is dropped.
#[derive(Debug, Clone)]
pub(crate) struct CopyClaim {
    claim: Claim,
    row: Option<Arc<ClaimRow>>,
}

/// The row of a claim over a shared catalog.
#[derive(Debug)]
struct ClaimRow {
    store: Store,
    row: Bytes,
    claim: Claim,
    ended: AtomicBool,
}

/// A claim that was dropped, whose row is still there; nobody else here gets it before.
#[derive(Debug)]
pub(super) struct DroppedClaim {
    pub(super) row: Bytes,
    _claim: Claim,
}

impl CopyClaim {
    /// In a catalog of one process, there is no row.
    pub(super) fn alone(claim: Claim) -> Self {
        Self { claim, row: None }
    }

    pub(super) fn shared(store: &Store, row: Bytes, claim: Claim) -> Self {
        let store = store.itself();
        let row = ClaimRow { store, row, claim: claim.clone(), ended: AtomicBool::new(false) };
        Self { claim, row: Some(Arc::new(row)) }
    }

    /// The row is gone, or was never there.
    pub(crate) fn was_used(&self) {
        if let Some(row) = &self.row {
            row.ended.store(true, Ordering::SeqCst);
        }
    }

    /// Removes its row at once, where a call may block. If that fails, it is removed later.
    pub(crate) fn end(self) {
        let Some(row) = &self.row else { return };
        match row.store.return_claim(&row.row) {
            Ok(()) => row.ended.store(true, Ordering::SeqCst),
            Err(error) => tracing::debug!(%error, "a claim is returned later"),
        }
    }
}

impl Deref for CopyClaim {
    type Target = Claim;

    fn deref(&self) -> &Claim {
        &self.claim
    }
}

impl Drop for ClaimRow {
    fn drop(&mut self) {
        if !self.ended.load(Ordering::SeqCst) {
            let left = DroppedClaim { row: self.row.clone(), _claim: self.claim.clone() };
            self.store.inner.servers.leave_behind(left);
        }
    }
}

impl Store {
    /// For so long, removes the rows of claims soon after those were dropped. What cannot be removed now is removed after the next
    /// sign of life.
    pub(crate) async fn return_dropped(&self, time: Duration) {
        let returning = async {
            loop {
                self.inner.servers.dropped.notified().await;
                Faults::default().add(self.blocking(Self::return_left).await);
            }
        };
        let _ = tokio::time::timeout(time, returning).await;
    }

    /// Removes the rows of claims that were dropped.
    pub(super) fn return_left(&self) -> Result<()> {
        let mut left = std::mem::take(&mut self.inner.servers.state().left);
        while let Some(last) = left.last() {
            if let Err(error) = self.itself().return_claim(&last.row) {
                self.inner.servers.state().left.append(&mut left);
                return Err(error);
            }
            left.pop();
        }
        Ok(())
    }
}
