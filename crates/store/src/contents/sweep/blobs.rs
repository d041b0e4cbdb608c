//! Deleting blobs that the catalog does not know: those whose records were swept, those that a writer gave up, and those
//! that a stopped process left.
//!
//! Invariant: a blob that the catalog does not know is deleted only under a claim ([`crate::places::Claims`]; [`crate::servers`] over
//! a shared catalog), so that it is not that of a writer at work.

use std::time::Duration;

use cenote_blob::Place;
use futures_util::{StreamExt, stream};

use super::Swept;
use crate::catalog::{BlobCopy, BlobRecord, Reads, keys};
use crate::model::PlaceId;
use crate::places::Claim;
use crate::{BlobId, Error, ErrorKind, Health, Result, Store};

/// So many copies are deleted at the same time.
const AT_ONCE: usize = 16;

/// How long a deletion may take over a shared catalog.
const DELETION: Duration = Duration::from_secs(10);

/// By how much the clock of a disk may be slow.
const SKEW: Duration = Duration::from_secs(60);

impl Store {
    /// Deletes copies that no record knows any more.
    pub(super) async fn delete_copies(&self, copies: Vec<(BlobId, BlobCopy)>) {
        let deleted = stream::iter(copies);
        deleted
            .for_each_concurrent(AT_ONCE, |(blob, copy)| async move {
                self.delete_gone(blob, &copy).await;
            })
            .await;
    }

    /// Deletes a copy of a blob whose record is gone: its id is never used again, so no other server makes one.
    async fn delete_gone(&self, blob: BlobId, copy: &BlobCopy) {
        let BlobCopy::Kept(id) = copy else { return };
        if let Some(claim) = self.inner.claims.take(blob, *id) {
            self.delete_claimed(blob, *id, &claim).await;
        }
    }

    /// Deletes a copy that no record knows any more. What cannot be deleted now is tried again later.
    pub(crate) async fn delete_copy(&self, blob: BlobId, copy: &BlobCopy) {
        let BlobCopy::Kept(id) = copy else { return };
        self.delete_shared(blob, *id).await;
    }

    /// The same under a claim of all servers; returns whether it was deleted.
    async fn delete_shared(&self, blob: BlobId, id: PlaceId) -> bool {
        match self.claim_copy(blob, id) {
            Ok(Some(claim)) => {
                let deleted = self.delete_claimed(blob, id, &claim).await;
                claim.end();
                deleted
            }
            // If another thread has claimed it, it is examined again when the claim is released.
            Ok(None) if !self.is_shared() => false,
            _ => {
                self.inner.due.add_failed(blob, id);
                false
            }
        }
    }

    /// The same for the owner of the claim; returns whether it was deleted.
    pub(crate) async fn delete_claimed(&self, blob: BlobId, id: PlaceId, claim: &Claim) -> bool {
        let known = self.known();
        let deleted = match known.open(id) {
            Ok(place) => self.delete_unless_known(id, place, blob).await,
            Err(error) => Err(error),
        };
        claim.settle();
        match deleted {
            Ok(deleted) => deleted,
            Err(error) => {
                tracing::warn!(%blob, place = known.name(id), %error, "could not delete a copy");
                self.inner.due.add_failed(blob, id);
                false
            }
        }
    }

    /// Deletes copies whose writers ended without a word of what became of them; returns how many. While the outcome of a commit may
    /// be unknown, they stay.
    pub(super) async fn delete_reported(&self, copies: Vec<(BlobId, PlaceId)>) -> u64 {
        if self.health() != Health::Ready || self.is_undecided() {
            copies.into_iter().for_each(|(blob, id)| self.inner.due.add_failed(blob, id));
            return 0;
        }
        let deleted = stream::iter(copies).map(|(blob, id)| self.delete_shared(blob, id));
        let deleted = deleted.buffer_unordered(AT_ONCE);
        deleted.fold(0, |sum, deleted| async move { sum + u64::from(deleted) }).await
    }

    /// Deletes a copy unless it is in the catalog, or being written; returns whether it did.
    pub(crate) async fn delete_unknown(
        &self,
        id: PlaceId,
        place: &Place,
        blob: BlobId,
    ) -> Result<bool> {
        let Some(claim) = self.claim_copy(blob, id)? else { return Ok(false) };
        let deleted = self.delete_unless_known(id, place, blob).await;
        claim.settle();
        claim.end();
        deleted
    }

    async fn delete_unless_known(&self, id: PlaceId, place: &Place, blob: BlobId) -> Result<bool> {
        if !self.is_unknown(id, blob)? {
            return Ok(false);
        }
        if !self.is_sure_of_claims() {
            return Err(slow());
        }
        // Longer than this a server that is missed would not be sure of its claim.
        let deleting = place.delete(blob);
        match self.is_shared() {
            true => tokio::time::timeout(DELETION, deleting).await.map_err(|_| slow())??,
            false => deleting.await?,
        }
        Ok(true)
    }

    /// Deletes blobs that the catalog does not know, and unfinished ones: what an interrupted process left
    /// behind. In the main place, which is this process's alone, they are what was there before the store was opened; elsewhere they are
    /// older than `grace`.
    pub async fn sweep_orphans(&self, grace: Duration) -> Result<Swept> {
        let mut swept = Swept::default();
        let aged = self.now().minus(grace);
        let left_behind = self.inner.opened.minus(SKEW);
        for (id, place) in self.known().opened() {
            let alone = id == PlaceId::MAIN && !self.parts().engine.is_shared();
            let before = if alone { aged.max(left_behind) } else { aged }.into();
            place.sweep_staged(before).await?;
            let mut stored = place.list();
            while let Some(blob) = stored.next().await {
                let blob = blob?;
                if blob.modified < before && self.delete_unknown(id, place, blob.id).await? {
                    swept.blobs += 1;
                }
            }
        }
        Ok(swept)
    }

    pub(crate) fn is_unknown(&self, place: PlaceId, blob: BlobId) -> Result<bool> {
        let record = self.itself().view()?.get::<BlobRecord>(&keys::blob(blob))?;
        let copy = BlobCopy::Kept(place);
        Ok(record.is_none_or(|record| !record.copies.contains(&copy)))
    }
}

fn slow() -> Error {
    Error::new(ErrorKind::Unavailable, "the catalog or the place is slow: a copy is deleted later")
}
