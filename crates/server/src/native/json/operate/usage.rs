//! Totals.

use serde::Serialize;
use utoipa::ToSchema;

/// Totals below a collection.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Usage {
    /// Resources that are not collections.
    pub(crate) objects: u64,
    pub(crate) collections: u64,
    /// Bytes of contents, without versions.
    pub(crate) bytes: u64,
    /// Resources that were removed from below it and that the caller can restore; not included in the numbers above.
    pub(crate) trash: TrashTotal,
}

/// The size of the trash.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TrashTotal {
    /// Removed resources, each with everything below it.
    pub(crate) items: u64,
    /// Bytes of their contents, as far as they have been counted.
    pub(crate) bytes: u64,
}

impl From<cenote_store::TrashTotal> for TrashTotal {
    fn from(total: cenote_store::TrashTotal) -> Self {
        let cenote_store::TrashTotal { items, bytes } = total;
        Self { items, bytes }
    }
}

/// Counts of the whole store.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Stats {
    /// Resources, without the root. For administrators only.
    pub(crate) resources: Option<u64>,
    /// Bytes of contents. For administrators only.
    pub(crate) bytes: Option<u64>,
    /// Removed resources that can be restored; also included in the numbers above. For administrators only.
    pub(crate) trash: Option<TrashTotal>,
    /// The catalog's engine.
    pub(crate) engine: &'static str,
    pub(crate) places: Vec<Place>,
    /// Jobs that have not finished. For administrators only.
    pub(crate) jobs: Option<usize>,
}

/// The places for contents.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Place {
    pub(crate) name: String,
    /// Free bytes, if known.
    pub(crate) free: Option<u64>,
}
