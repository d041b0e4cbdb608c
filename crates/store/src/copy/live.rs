//! A store as the origin of a copy: all of it, while it takes no changes.

use std::sync::Arc;

use cenote_kv::{KeyRange, Row, ScanOptions, Version};

use super::{Copied, CopyChoices, Landing, Origin, Watch, copy};
use crate::catalog::{BlobCopy, BlobRecord};
use crate::model::PlaceId;
use crate::{BlobId, ContentStream, Result, Store};

/// A store that takes no changes.
#[derive(Debug)]
struct Frozen(Store);

impl Store {
    /// Takes no more changes until it is opened again, for the reason given.
    pub fn freeze(&self, reason: &str) {
        self.inner.freeze(reason);
    }

    /// Copies all of this store to another engine and another place for its contents. From then on it takes no changes until it is
    /// opened again; it can be read meanwhile. Contents in other places than the main one stay there, and both stores name them.
    ///
    /// # Errors
    /// See [`ErrorKind::Exists`](crate::ErrorKind::Exists) and [`ErrorKind::Damaged`](crate::ErrorKind::Damaged): something is there
    /// already, or a part of this store is damaged.
    pub async fn copy_to(
        &self,
        landing: &Landing,
        choices: CopyChoices,
        watch: &Watch,
    ) -> Result<Copied> {
        self.freeze("it is being copied to another engine");
        copy(Arc::new(Frozen(self.clone())), landing, choices, watch).await
    }
}

impl Origin for Frozen {
    fn rows(&self, take: &mut dyn FnMut(Row) -> Result<()>) -> Result<Version> {
        let view = self.0.parts().engine.snapshot()?;
        for row in view.scan(&KeyRange::all(), ScanOptions::default()) {
            take(row?)?;
        }
        Ok(view.version())
    }

    fn has(&self, record: &BlobRecord) -> bool {
        record.copies.contains(&BlobCopy::Kept(PlaceId::MAIN))
    }

    fn bytes(&self, id: BlobId, record: &BlobRecord) -> ContentStream {
        self.0.blob_bytes(id, record)
    }
}
