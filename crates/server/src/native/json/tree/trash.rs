//! Removed resources that are kept for some time.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::native::json::Names;
use crate::native::json::{Instant, KindWord};

/// A page of the trash.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TrashQuery {
    /// Only resources from below this collection.
    #[param(example = "/lab")]
    pub(crate) path: Option<String>,
    /// Its id, instead of the path.
    pub(crate) id: Option<u64>,
    /// The cursor to begin at: a `next` of this route.
    pub(crate) after: Option<String>,
    /// At most this many items.
    #[param(minimum = 1, maximum = 1000)]
    pub(crate) limit: Option<u32>,
}

/// Part of the trash.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TrashItems {
    pub(crate) items: Vec<TrashItem>,
    /// Where the next page begins; null at the end.
    pub(crate) next: Option<String>,
}

/// A removed resource that can be restored, with everything below it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TrashItem {
    /// Its id, which it keeps when it is restored.
    pub(crate) id: u64,
    /// Its kind.
    pub(crate) kind: KindWord,
    /// Its former path.
    pub(crate) path: String,
    /// When it was removed.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) removed: Instant,
    /// Who removed it.
    pub(crate) removed_by: String,
    /// It is kept until then.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) until: Instant,
    /// The number of resources, including itself; null while they are counted.
    pub(crate) resources: Option<u64>,
    /// Bytes of their contents, without versions; null while they are counted.
    pub(crate) bytes: Option<u64>,
}

impl TrashItem {
    pub(crate) fn of(
        item: cenote_store::TrashItem,
        names: &mut Names<'_>,
    ) -> cenote_store::Result<Self> {
        Ok(Self {
            id: item.id.0,
            kind: item.kind.into(),
            path: item.path,
            removed: Instant(item.removed),
            removed_by: names.of(item.removed_by)?,
            until: Instant(item.until),
            resources: item.resources,
            bytes: item.bytes,
        })
    }
}

/// The resource to restore, and the target.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RestoreRemoved {
    /// The id of a removed resource.
    pub(crate) id: u64,
    /// The target, instead of the former path.
    pub(crate) to: Option<String>,
    /// Create missing parent collections.
    #[serde(default)]
    pub(crate) parents: bool,
}

/// The items to remove for good: either one, or all.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmptyTrash {
    /// The id of a removed resource.
    pub(crate) id: Option<u64>,
    /// All that the caller could restore.
    #[serde(default)]
    pub(crate) all: bool,
}

/// The result of emptying the trash.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Emptied {
    /// The number of items, without the resources below them.
    pub(crate) items: u64,
}
