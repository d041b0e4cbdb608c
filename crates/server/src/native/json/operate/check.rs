//! The check of a store.

use cenote_store::Finding as StoreFinding;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What to check.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Check {
    /// The percentage of contents to read and compare with their checksums.
    #[serde(default)]
    #[schema(maximum = 100)]
    pub(crate) contents_percent: u8,
    /// Repair everything that can be derived.
    #[serde(default)]
    pub(crate) repair: bool,
}

/// One difference between the actual and the expected state.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Finding {
    /// The kind of difference.
    pub(crate) kind: &'static str,
    /// Its subject: the id of a resource, a content, a blob, or a name.
    pub(crate) id: String,
    /// Its path, for a resource in the tree.
    pub(crate) path: Option<String>,
    pub(crate) detail: String,
    /// Whether it was repaired.
    pub(crate) repaired: bool,
}

impl From<StoreFinding> for Finding {
    fn from(finding: StoreFinding) -> Self {
        let StoreFinding { kind, id, path, detail, repaired } = finding;
        let path = path.map(|path| path.to_string());
        Self { kind: kind.as_str(), id, path, detail, repaired }
    }
}
