//! Change sets.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Instant;

/// A change set to be begun.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewChangeSet {
    /// After so many seconds without a request it expires.
    #[schema(minimum = 1, maximum = 1800, default = 180)]
    pub(crate) idle_seconds: Option<u64>,
}

/// A change set.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChangeSet {
    /// What the header `Cenote-Changeset` says.
    pub(crate) id: String,
    /// Whose it is.
    pub(crate) owner: String,
    /// What became of it.
    #[schema(pattern = "^(open|committed|dropped|expired|conflicted|unknown)$")]
    pub(crate) state: &'static str,
    /// It sees the store as it was then.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) begun: Instant,
    /// When it expires if it is not used; when it ended.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) expires: Instant,
    /// When it expires however much it is used.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) until: Instant,
    /// How many changes were made in it.
    pub(crate) changes: u64,
    /// The bytes that its commit writes to the catalog.
    pub(crate) bytes: u64,
}

impl From<cenote_store::ChangeSet> for ChangeSet {
    fn from(set: cenote_store::ChangeSet) -> Self {
        Self {
            id: set.id.to_string(),
            owner: set.owner,
            state: set.state.as_str(),
            begun: Instant(set.begun),
            expires: Instant(set.expires),
            until: Instant(set.until),
            changes: set.changes,
            bytes: set.bytes,
        }
    }
}

/// Open change sets.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChangeSets {
    pub(crate) items: Vec<ChangeSet>,
}
