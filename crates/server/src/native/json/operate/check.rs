//! The check of a store.

use cenote_store::Finding as StoreFinding;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What to check.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Check {
    /// How much of the contents is read and compared with its checksums.
    #[serde(default)]
    #[schema(maximum = 100)]
    pub(crate) contents_percent: u8,
    /// Mend what can be derived.
    #[serde(default)]
    pub(crate) repair: bool,
}

/// One difference between what is there and what should be.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Finding {
    /// What is wrong.
    pub(crate) kind: &'static str,
    /// With what: the id of a resource, a content, a blob, or a name.
    pub(crate) id: String,
    /// Where that is, for a resource that is in the tree.
    pub(crate) path: Option<String>,
    pub(crate) detail: String,
    /// Whether it was mended.
    pub(crate) repaired: bool,
}

impl From<StoreFinding> for Finding {
    fn from(finding: StoreFinding) -> Self {
        let StoreFinding { kind, id, path, detail, repaired } = finding;
        let path = path.map(|path| path.to_string());
        Self { kind: kind.as_str(), id, path, detail, repaired }
    }
}
