//! A backup as the origin of a copy: a store as it was, with all its contents in one place.
//!
//! Invariant: the restored store touches nothing outside of its own place, which may still belong to the original: all contents of
//! the backup are in its main place, and its other places are down until an administrator says otherwise.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use cenote_kv::{Row, Version};
use futures_util::{StreamExt, TryStreamExt};

use super::directory::{BackupDir, CatalogInfo, Taken};
use super::frames::{Begin, Frame, damaged};
use super::intake::{is_kept, require_known};
use crate::catalog::keys::{self, Counter};
use crate::catalog::{BlobCopy, BlobRecord, Record};
use crate::copy::{Copied, CopyChoices, Landing, Origin, Watch, copy};
use crate::model::{PlaceId, PlaceInfo, PlaceKind, PlaceState};
use crate::{BlobId, ContentStream, Result};

/// The names of the places of a restored store that are down now.
pub type RestoredPlaces = Vec<String>;

/// A backup that becomes a store.
#[derive(Debug)]
struct Restoring {
    dir: Arc<BackupDir>,
    catalog: CatalogInfo,
    changed: Mutex<Changed>,
}

/// How the restored store differs from the original.
#[derive(Debug, Default)]
struct Changed {
    down: RestoredPlaces,
    /// Blobs that the main place did not have, and their bytes.
    blobs: i64,
    bytes: i64,
}

impl BackupDir {
    /// Makes a store of a backup; returns also which of its places are down now.
    ///
    /// # Errors
    /// As for [`Store::copy_to`](crate::Store::copy_to).
    pub async fn restore(
        self: &Arc<Self>,
        catalog: &CatalogInfo,
        landing: &Landing,
        choices: CopyChoices,
        watch: &Watch,
    ) -> Result<(Copied, RestoredPlaces)> {
        let (dir, catalog) = (self.clone(), catalog.clone());
        let restoring = Arc::new(Restoring { dir, catalog, changed: Mutex::default() });
        let copied = copy(restoring.clone(), landing, choices, watch).await?;
        let down = std::mem::take(&mut restoring.changed().down);
        Ok((copied, down))
    }
}

impl Origin for Restoring {
    fn rows(&self, take: &mut dyn FnMut(Row) -> Result<()>) -> Result<Version> {
        *self.changed() = Changed::default();
        let mut begun = None;
        self.dir.frames(&self.dir.file(&self.catalog.name), &mut |frame| {
            match frame {
                Frame::Begin(begin) => {
                    require_known(begin)?;
                    begun = Some(begin.clone());
                }
                Frame::Rows(rows) => self.pass(rows, take)?,
                Frame::End(_) | Frame::Pause => {}
            }
            Ok(true)
        })?;
        begun.map(|Begin { version, .. }| version).ok_or_else(damaged)
    }

    fn has(&self, record: &BlobRecord) -> bool {
        is_kept(record)
    }

    fn bytes(&self, id: BlobId, record: &BlobRecord) -> ContentStream {
        self.dir.place.read(id, 0..record.size).map_err(Into::into).boxed()
    }

    fn additions(&self) -> Vec<(Bytes, i64)> {
        let changed = self.changed();
        let main = |what| keys::counter(PlaceId::MAIN.0, what);
        vec![(main(Counter::Resources), changed.blobs), (main(Counter::Bytes), changed.bytes)]
    }
}

impl Restoring {
    fn changed(&self) -> MutexGuard<'_, Changed> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass(&self, rows: &[Row], take: Taken<'_>) -> Result<()> {
        for (key, value) in rows {
            let value = match key.first() {
                Some(b'B') => self.blob(value),
                Some(b'L') => self.place(value),
                _ if *key == keys::setting("default-place") => continue,
                _ => value.clone(),
            };
            take((key.clone(), value))?;
        }
        Ok(())
    }

    /// The record of a blob, which the main place has now. One that is damaged is passed on as it is.
    fn blob(&self, value: &Bytes) -> Bytes {
        let main = BlobCopy::Kept(PlaceId::MAIN);
        match BlobRecord::from_value(value) {
            Ok(mut record) if is_kept(&record) && !record.copies.contains(&main) => {
                let mut changed = self.changed();
                changed.blobs += 1;
                changed.bytes += record.size as i64;
                record.copies.insert(0, main);
                record.to_value()
            }
            _ => value.clone(),
        }
    }

    /// The record of a place, which is down now unless it is the main one.
    fn place(&self, value: &Bytes) -> Bytes {
        match PlaceInfo::from_value(value) {
            Ok(info) if matches!(info.kind, PlaceKind::Leaf { .. }) => {
                self.changed().down.push(info.name.clone());
                PlaceInfo { state: PlaceState::Down, ..info }.to_value()
            }
            _ => value.clone(),
        }
    }
}
