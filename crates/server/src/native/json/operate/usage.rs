//! How much there is.

use serde::Serialize;
use utoipa::ToSchema;

/// What lies below a collection.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Usage {
    /// Resources that are no collections.
    pub(crate) objects: u64,
    pub(crate) collections: u64,
    /// Bytes of contents, versions not counted.
    pub(crate) bytes: u64,
    /// What was removed from below it and the caller can restore; not in the numbers above.
    pub(crate) trash: TrashTotal,
}

/// How much the trash holds.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TrashTotal {
    /// Removed resources, each with all below it.
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

/// What the whole store holds.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Stats {
    /// Resources, the root not counted. For administrators only.
    pub(crate) resources: Option<u64>,
    /// Bytes of contents. For administrators only.
    pub(crate) bytes: Option<u64>,
    /// What was removed and can be restored; in the numbers above, too. For administrators only.
    pub(crate) trash: Option<TrashTotal>,
    /// The catalog's engine.
    pub(crate) engine: &'static str,
    pub(crate) places: Vec<Place>,
    /// Recorded work that waits. For administrators only.
    pub(crate) jobs: Option<usize>,
}

/// Where contents are kept.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Place {
    pub(crate) name: String,
    /// Free bytes, where that can be known.
    pub(crate) free: Option<u64>,
}
