//! Sweeping: contents that lost their last reference, and blobs that never got one.
//!
//! Invariant: a record goes only in a commit that saw that nothing refers to it, and a blob's
//! bytes only after its record.

use std::collections::HashSet;
use std::time::Duration;

use cenote_blob::Place;
use futures_util::StreamExt;

use crate::catalog::{BlobCopy, BlobRecord, Reads, Transaction, keys};
use crate::contents::refs::{blob_ids, count_copy, patches};
use crate::faults::Faults;
use crate::model::{Content, ContentId, Extent, PlaceId};
use crate::{BlobId, Result, Store};

/// What a sweep removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Contents.
    pub contents: u64,
    /// Blobs.
    pub blobs: u64,
}

/// A blob whose record is gone, and its copies.
type Freed = (BlobId, Vec<BlobCopy>);

/// How many notes one step of the sweep looks at.
const STEP: usize = 256;

impl Store {
    /// Removes contents that lost their last reference more than `grace` ago.
    ///
    /// # Errors
    /// The first fault, after all were tried.
    pub async fn sweep_contents(&self, grace: Duration) -> Result<Swept> {
        let (mut swept, mut faults) = (Swept::default(), Faults::default());
        let mut range = keys::garbage_before(self.now().minus(grace));
        loop {
            let notes = self.view()?.rows(&range, STEP)?;
            for (note, _) in &notes {
                let note = note.clone();
                let collected = self.blocking(move |store| store.collect(&note)).await;
                if let Some(Some(blobs)) = faults.add(collected) {
                    swept.contents += 1;
                    swept.blobs += self.delete_copies(blobs).await;
                }
            }
            match notes.last() {
                Some((last, _)) if notes.len() == STEP => range = range.after(last),
                _ => return faults.first().map(|()| swept),
            }
        }
    }

    /// Settles one note: the content goes, if nothing refers to it. Returns the blobs that went
    /// with it; none if it stays.
    fn collect(&self, note: &bytes::Bytes) -> Result<Option<Vec<Freed>>> {
        self.transact(|tx| {
            tx.delete(note.clone());
            match keys::garbage_content(note) {
                Some(content) if tx.rows(&keys::content_users(content), 1)?.is_empty() => {
                    erase_content(tx, content)
                }
                _ => Ok(None),
            }
        })
    }

    /// Removes contents that have lost their last reference and lie in a place, however short ago that was.
    pub(crate) async fn sweep_place(&self, place: PlaceId) -> Result<()> {
        let notes = self.view()?.rows(&keys::all_garbage(), usize::MAX)?;
        for (note, _) in notes {
            if let Some(content) = keys::garbage_content(&note)
                && lies_in(&self.view()?, content, place)?
                && let Some(blobs) = self.blocking(move |store| store.collect(&note)).await?
            {
                self.delete_copies(blobs).await;
            }
        }
        Ok(())
    }

    /// Says how many blobs there were.
    async fn delete_copies(&self, blobs: Vec<Freed>) -> u64 {
        for (blob, copies) in &blobs {
            for copy in copies {
                self.delete_copy(*blob, copy).await;
            }
        }
        blobs.len() as u64
    }

    /// Deletes a copy that no record knows any more. What cannot be deleted now is found by the sweep of orphans.
    pub(crate) async fn delete_copy(&self, blob: BlobId, copy: &BlobCopy) {
        let BlobCopy::Kept(id) = copy else { return };
        let known = self.known();
        let deleted = match known.open(*id) {
            Ok(place) => self.delete_unknown(*id, place, blob).await.map(drop),
            Err(error) => Err(error),
        };
        if let Err(error) = deleted {
            tracing::warn!(%blob, place = known.name(*id), %error, "could not delete a copy");
        }
    }

    /// Deletes a copy unless the catalog knows it, or somebody is making it; says whether it did.
    pub(crate) async fn delete_unknown(
        &self,
        id: PlaceId,
        place: &Place,
        blob: BlobId,
    ) -> Result<bool> {
        let Some(_claim) = self.inner.claims.take(blob, id) else { return Ok(false) };
        if !self.is_unknown(id, blob)? {
            return Ok(false);
        }
        place.delete(blob).await?;
        Ok(true)
    }

    /// Deletes blobs older than `grace` that the catalog does not know: what interrupted
    /// writes left behind.
    pub async fn sweep_orphans(&self, grace: Duration) -> Result<Swept> {
        let mut swept = Swept::default();
        let before = self.now().minus(grace);
        for (id, place) in self.known().opened() {
            place.sweep_staged(before.into()).await?;
            let mut stored = place.list();
            while let Some(blob) = stored.next().await {
                let blob = blob?;
                if blob.modified < before.into() && self.delete_unknown(id, place, blob.id).await? {
                    swept.blobs += 1;
                }
            }
        }
        Ok(swept)
    }

    pub(crate) fn is_unknown(&self, place: PlaceId, blob: BlobId) -> Result<bool> {
        let record = self.view()?.get::<BlobRecord>(&keys::blob(blob))?;
        let copy = BlobCopy::Kept(place);
        Ok(record.is_none_or(|record| !record.copies.contains(&copy)))
    }
}

/// Whether a blob of a content has a copy in a place.
fn lies_in(reads: &impl Reads, id: ContentId, place: PlaceId) -> Result<bool> {
    let Some(content) = reads.get::<Content>(&keys::content(id))? else { return Ok(false) };
    let patches = patches(reads, id)?;
    for blob in blob_ids(&content.extents).chain(blob_ids(&patches)) {
        let record = reads.get::<BlobRecord>(&keys::blob(blob))?;
        if record.is_some_and(|record| record.copy_in(place).is_some()) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn erase_content(tx: &mut Transaction, id: ContentId) -> Result<Option<Vec<Freed>>> {
    let Some(content) = tx.get::<Content>(&keys::content(id))? else { return Ok(None) };
    let patches = patches(tx, id)?;
    for (key, _) in tx.rows(&keys::patches(id), usize::MAX)? {
        tx.delete(key);
    }
    tx.delete(keys::content(id));
    release_blobs(tx, id, content.extents.iter().chain(&patches)).map(Some)
}

fn release_blobs<'a>(
    tx: &mut Transaction,
    id: ContentId,
    extents: impl Iterator<Item = &'a Extent>,
) -> Result<Vec<Freed>> {
    let blobs: HashSet<BlobId> =
        extents.flat_map(|extent| blob_ids(std::slice::from_ref(extent))).collect();
    let mut freed = Vec::new();
    for blob in blobs {
        tx.delete(keys::blob_user(blob, id));
        if tx.rows(&keys::blob_users(blob), 2)?.is_empty() {
            let Some(record) = tx.get::<BlobRecord>(&keys::blob(blob))? else { continue };
            record.copies.iter().for_each(|copy| count_copy(tx, copy, record.size, -1));
            tx.delete(keys::blob(blob));
            freed.push((blob, record.copies));
        }
    }
    Ok(freed)
}
