//! What was removed and is kept for a while.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::native::json::Names;
use crate::native::json::{Instant, KindWord};

/// Which part of the trash.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TrashQuery {
    /// Only what was below this collection.
    #[param(example = "/lab")]
    pub(crate) path: Option<String>,
    /// Its id, instead.
    pub(crate) id: Option<u64>,
    /// Begin here: a `next` of this route.
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

/// A removed resource that can be restored, with all below it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TrashItem {
    /// Its id, which it has again when it is restored.
    pub(crate) id: u64,
    /// What it is.
    pub(crate) kind: KindWord,
    /// Its path when it was removed.
    pub(crate) path: String,
    /// When it was removed.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) removed: Instant,
    /// Who removed it.
    pub(crate) removed_by: String,
    /// It is kept until then.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) until: Instant,
    /// How many resources there are, itself among them; null while they are counted.
    pub(crate) resources: Option<u64>,
    /// Bytes of their contents, versions not counted; null while they are counted.
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

/// What to restore, and where to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RestoreRemoved {
    /// The id of a removed resource.
    pub(crate) id: u64,
    /// Where to, if not to the collection that it was in.
    pub(crate) to: Option<String>,
    /// Create the collections on the way, where they are gone.
    #[serde(default)]
    pub(crate) parents: bool,
}

/// What to remove for good: either one, or all.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmptyTrash {
    /// The id of a removed resource.
    pub(crate) id: Option<u64>,
    /// All that the caller could restore.
    #[serde(default)]
    pub(crate) all: bool,
}

/// What was removed for good.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Emptied {
    /// How many removed resources that were, those below them not counted.
    pub(crate) items: u64,
}
