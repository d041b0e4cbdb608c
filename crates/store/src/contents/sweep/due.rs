//! What the sweep is to look at soon: notes of contents that were committed just now, and blobs whose writers ended without
//! a word of what became of them.
//!
//! It is in memory only, and bounded: what it forgets is found by the next look at all notes, and at all blobs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;

use crate::BlobId;
use crate::model::PlaceId;

/// More of a kind than this are left to be found by looking at all there is.
const MOST: usize = 1 << 16;

/// What the sweep is to look at soon.
#[derive(Debug, Clone, Default)]
pub(crate) struct Due(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    work: Mutex<Work>,
    rings: Notify,
}

/// The contents and copies to examine.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// Keys of notes.
    pub(super) notes: Vec<Bytes>,
    /// Copies that the catalog may not know.
    pub(super) copies: Vec<(BlobId, PlaceId)>,
    /// Copies that could not be deleted: to be tried again without hurry.
    later: Vec<(BlobId, PlaceId)>,
    /// There were more notes than could be kept.
    pub(super) missed: bool,
}

impl Due {
    /// Adds notes of contents that lost a reference.
    pub(crate) fn add(&self, notes: Vec<Bytes>) {
        if notes.is_empty() {
            return;
        }
        let mut work = self.work();
        match work.notes.len() + notes.len() <= MOST {
            true => work.notes.extend(notes),
            false => work.missed = true,
        }
        self.0.rings.notify_one();
    }

    /// Schedules all notes to be examined again: contents may no longer be in use.
    pub(crate) fn look_at_all(&self) {
        self.work().missed = true;
        self.0.rings.notify_one();
    }

    /// Adds a copy of a blob that nothing may refer to.
    pub(crate) fn add_copy(&self, blob: BlobId, place: PlaceId) {
        add_some(&mut self.work().copies, [(blob, place)]);
        self.0.rings.notify_one();
    }

    /// Adds a copy that could not be deleted.
    pub(super) fn add_failed(&self, blob: BlobId, place: PlaceId) {
        add_some(&mut self.work().later, [(blob, place)]);
    }

    /// Has what could not be deleted tried again.
    pub(crate) fn retry(&self) {
        let mut work = self.work();
        let later = std::mem::take(&mut work.later);
        add_some(&mut work.copies, later);
    }

    /// All of it except what is to be retried, which is removed here.
    pub(super) fn take(&self) -> Work {
        let mut work = self.work();
        let later = std::mem::take(&mut work.later);
        std::mem::replace(&mut *work, Work { later, ..Work::default() })
    }

    #[cfg(test)]
    pub(crate) fn take_copies(&self) -> Vec<(BlobId, PlaceId)> {
        self.take().copies
    }

    /// Waits until something is added.
    pub(crate) async fn added(&self) {
        self.0.rings.notified().await;
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.0.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn add_some(to: &mut Vec<(BlobId, PlaceId)>, copies: impl IntoIterator<Item = (BlobId, PlaceId)>) {
    let room = MOST.saturating_sub(to.len());
    to.extend(copies.into_iter().take(room));
}
