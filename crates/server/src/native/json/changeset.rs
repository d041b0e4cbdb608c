//! Change sets.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Instant;

/// A new change set.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewChangeSet {
    /// It expires after this many seconds without a request.
    #[schema(minimum = 1, maximum = 1800, default = 180)]
    pub(crate) idle_seconds: Option<u64>,
}

/// A change set.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChangeSet {
    /// The value for the header `Cenote-Changeset`.
    pub(crate) id: String,
    /// Its owner.
    pub(crate) owner: String,
    /// Its state.
    #[schema(pattern = "^(open|committed|dropped|expired|conflicted|unknown)$")]
    pub(crate) state: &'static str,
    /// The time of the state of the store that it sees.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) begun: Instant,
    /// When it expires if it is not used; or when it ended.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) expires: Instant,
    /// When it expires even if it is used.
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
