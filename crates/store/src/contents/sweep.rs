//! Sweeping: contents that lost their last reference, and blobs that never got one.
//!
//! Invariant: a record goes only in a commit that saw that nothing refers to it, and a blob's
//! bytes only after its record.

use std::collections::HashSet;
use std::time::Duration;

use cenote_blob::Place;
use futures_util::StreamExt;

use crate::catalog::{BlobRecord, Reads, Transaction, keys};
use crate::contents::refs::{blob_ids, patches};
use crate::model::{Content, ContentId, Extent};
use crate::{BlobId, Result, Store};

/// What a sweep removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Contents.
    pub contents: u64,
    /// Blobs.
    pub blobs: u64,
}

/// A blob whose record is gone, and the places that may have a copy.
type Freed = (BlobId, Vec<String>);

/// How many notes one step of the sweep looks at.
const STEP: usize = 256;

impl Store {
    /// Removes contents that lost their last reference more than `grace` ago.
    pub async fn sweep_contents(&self, grace: Duration) -> Result<Swept> {
        let mut swept = Swept::default();
        let before = self.now().minus(grace);
        loop {
            let notes = self.view()?.rows(&keys::garbage_before(before), STEP)?;
            for (note, _) in &notes {
                let note = note.clone();
                let Some(blobs) = self.blocking(move |store| store.collect(&note)).await? else {
                    continue;
                };
                swept.contents += 1;
                for (blob, places) in blobs {
                    self.delete_copies(blob, &places).await;
                    swept.blobs += 1;
                }
            }
            if notes.len() < STEP {
                return Ok(swept);
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

    async fn delete_copies(&self, blob: BlobId, places: &[String]) {
        for place in
            self.parts().places.iter().filter(|place| places.iter().any(|p| p == place.name()))
        {
            if let Err(error) = place.delete(blob).await {
                tracing::warn!(%blob, place = place.name(), %error, "could not delete a swept blob");
            }
        }
    }

    /// Deletes blobs older than `grace` that the catalog does not know: what interrupted
    /// writes left behind.
    pub async fn sweep_orphans(&self, grace: Duration) -> Result<Swept> {
        let mut swept = Swept::default();
        let before = self.now().minus(grace);
        for place in &self.parts().places {
            place.sweep_staged(before.into()).await?;
            let mut stored = place.list();
            while let Some(blob) = stored.next().await {
                let blob = blob?;
                if blob.modified < before.into() && self.is_unknown(place, blob.id)? {
                    place.delete(blob.id).await?;
                    swept.blobs += 1;
                }
            }
        }
        Ok(swept)
    }

    pub(crate) fn is_unknown(&self, place: &Place, blob: BlobId) -> Result<bool> {
        let record = self.view()?.get::<BlobRecord>(&keys::blob(blob))?;
        Ok(record.is_none_or(|record| record.places.iter().all(|name| name != place.name())))
    }
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
            let record = tx.get::<BlobRecord>(&keys::blob(blob))?;
            tx.delete(keys::blob(blob));
            freed.push((blob, record.map(|record| record.places).unwrap_or_default()));
        }
    }
    Ok(freed)
}
