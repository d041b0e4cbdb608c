//! Reads.

use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use fjall::{Guard, Readable};

use super::{Store, error, layout};
use crate::engine::is_reserved;
use crate::{Error, KeyRange, Result, Row, Rows, ScanOptions, Snapshot, Version};

/// A view of the tree at one commit.
pub(super) struct FjallSnapshot {
    view: fjall::Snapshot,
    version: Version,
    store: Arc<Store>,
}

impl fmt::Debug for FjallSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FjallSnapshot").field("version", &self.version).finish_non_exhaustive()
    }
}

/// The newest commit that a view of the tree contains.
pub(super) fn version(store: &Store, view: &fjall::Snapshot) -> Result<Version> {
    let Some(version) = view.get(&store.rows, layout::VERSION).map_err(error)? else {
        return Ok(0);
    };
    (*version)
        .try_into()
        .map(Version::from_be_bytes)
        .map_err(|_| Error::Corrupt(format!("version of the catalog has {} bytes", version.len())))
}

impl FjallSnapshot {
    pub(super) fn new(store: &Arc<Store>) -> Result<Self> {
        let view = store.database.snapshot();
        let version = version(store, &view)?;
        Ok(Self { view, version, store: store.clone() })
    }

    /// The values of the ring of tokens.
    pub(super) fn tokens(&self) -> impl Iterator<Item = Result<Bytes>> {
        let rows = self.view.prefix(&self.store.rows, layout::TOKENS);
        rows.map(|guard| Ok(guard.value().map_err(error)?.into()))
    }
}

impl Snapshot for FjallSnapshot {
    fn version(&self) -> Version {
        self.version
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        if is_reserved(key) {
            return Ok(None);
        }
        Ok(self.view.get(&self.store.rows, key).map_err(error)?.map(Bytes::from))
    }

    fn scan(&self, range: &KeyRange, options: ScanOptions) -> Rows<'_> {
        let end = range.end.as_deref().unwrap_or(&layout::END).min(&layout::END);
        let start = range.start.as_ref();
        if start >= end {
            return Box::new(std::iter::empty());
        }
        let rows = self
            .view
            .range::<&[u8], _>(&self.store.rows, (Bound::Included(start), Bound::Excluded(end)));
        match options.reverse {
            true => Box::new(rows.rev().take(options.limit).map(row)),
            false => Box::new(rows.take(options.limit).map(row)),
        }
    }
}

fn row(guard: Guard) -> Result<Row> {
    let (key, value) = guard.into_inner().map_err(error)?;
    Ok((key.into(), value.into()))
}
