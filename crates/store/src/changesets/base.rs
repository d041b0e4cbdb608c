//! The state that a change set sees below its own changes: the store as it was when the set was begun; but uploads as they are now,
//! and the location of bytes in their current state.
//!
//! Invariant: the tables that are read in their current state never change in a way that a reader of an older state would notice: extents and blobs are
//! written once, patches are only added, copies are moved by jobs. Uploads continue outside of every change set.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use cenote_kv::{Engine, Error, KeyRange, Result, Rows, ScanOptions, Snapshot, Version};

use crate::catalog::keys;

#[derive(Debug)]
pub(super) struct Base {
    then: Arc<dyn Snapshot>,
    engine: Arc<dyn Engine>,
    /// Taken when it is first needed.
    now: OnceLock<Arc<dyn Snapshot>>,
}

impl Base {
    pub(super) fn new(then: Arc<dyn Snapshot>, engine: Arc<dyn Engine>) -> Self {
        Self { then, engine, now: OnceLock::new() }
    }

    /// The same, which sees newer data.
    pub(super) fn again(&self) -> Self {
        Self::new(self.then.clone(), self.engine.clone())
    }

    fn below(&self, key: &[u8]) -> Result<&Arc<dyn Snapshot>> {
        if !is_as_now(key) {
            return Ok(&self.then);
        }
        if let Some(now) = self.now.get() {
            return Ok(now);
        }
        let format = keys::setting("format");
        let now = self.engine.snapshot_to_keep()?;
        if now.get(&format)? != self.then.get(&format)? {
            return Err(Error::Io("the format of the store was changed".into()));
        }
        Ok(self.now.get_or_init(|| now.into()))
    }
}

/// Whether rows of the table of a key are seen as they are now: uploads with their parts, extents, patches, blobs and their checksums.
fn is_as_now(key: &[u8]) -> bool {
    matches!(key.first(), Some(b'P' | b'p' | b'K' | b'k' | b'B' | b'b' | b'e'))
}

impl Snapshot for Base {
    fn version(&self) -> Version {
        self.then.version()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        self.below(key)?.get(key)
    }

    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        match keys.first() {
            Some(first) if keys.iter().all(|key| is_as_now(key) == is_as_now(first)) => {
                self.below(first)?.get_many(keys)
            }
            _ => keys.iter().map(|key| self.get(key)).collect(),
        }
    }

    fn scan(&self, range: &KeyRange, options: ScanOptions) -> Rows<'_> {
        match self.below(&range.start) {
            Ok(below) => below.scan(range, options),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }
}
