//! Copies that a read found damaged or gone. They are mended by the next round of maintenance; a
//! note that a stopped process loses is made again by the next read, or by a check.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::BlobId;
use crate::model::PlaceId;

/// The copies to be mended.
#[derive(Debug, Clone)]
pub(crate) struct Damage {
    copies: Arc<Mutex<BTreeSet<(BlobId, PlaceId)>>>,
    work: Arc<Notify>,
}

/// More than these are left to be found again.
const MOST: usize = 10_000;

impl Damage {
    /// Rings `work` for each note.
    pub(crate) fn new(work: Arc<Notify>) -> Self {
        Self { copies: Arc::default(), work }
    }

    pub(crate) fn note(&self, blob: BlobId, place: PlaceId) {
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        if copies.len() < MOST && copies.insert((blob, place)) {
            tracing::warn!(%blob, %place, "a copy is damaged or gone");
            self.work.notify_one();
        }
    }

    /// All of them, to be noted again if they cannot be mended.
    pub(crate) fn take(&self) -> BTreeSet<(BlobId, PlaceId)> {
        std::mem::take(&mut *self.copies.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
