//! Many small files in one request.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::Outcome;

/// Where the entries go.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct BatchQuery {
    /// The path of the collection; made, if it is missing.
    #[param(example = "/lab")]
    pub(crate) path: String,
    /// The place or group that the bytes go to, instead of the default one.
    pub(crate) place: Option<String>,
}

/// Objects to answer with.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArchiveQuestion {
    #[schema(max_items = 1000)]
    pub(crate) ids: Vec<u64>,
}

/// What became of one entry.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchLine {
    /// Its path in the store; the name it has in the archive, if that is no path; empty where
    /// the archive itself is broken.
    pub(crate) path: String,
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
}
