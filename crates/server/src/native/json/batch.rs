//! Many small files in one request.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::Outcome;

/// The target of the entries.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct BatchQuery {
    /// The path of the collection, which is created if it is missing.
    #[param(example = "/lab")]
    pub(crate) path: String,
    /// The place or group to store the bytes in, instead of the default one.
    pub(crate) place: Option<String>,
}

/// The objects to return.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArchiveQuestion {
    #[schema(max_items = 1000)]
    pub(crate) ids: Vec<u64>,
}

/// The outcome of one entry.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchLine {
    /// Its path in the store; the name in the archive, if that is not a valid path; empty if
    /// the archive itself is broken.
    pub(crate) path: String,
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
}
