//! The queries of `/v1/fs`. Its bodies are bytes.

use serde::Deserialize;
use utoipa::IntoParams;

use super::Instant;

/// What to read.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReadQuery {
    #[param(ignore)]
    pub(crate) path: Option<String>,
    #[param(ignore)]
    pub(crate) id: Option<u64>,
    /// A version that was kept, instead of the current content.
    pub(crate) version: Option<u64>,
    /// The replica of this number, from its place only.
    pub(crate) replica: Option<u32>,
    /// Read the stored bytes against their checksums first, and answer from copies that are whole.
    #[serde(default)]
    pub(crate) verify: bool,
}

/// How to put.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PutQuery {
    #[param(ignore)]
    pub(crate) path: Option<String>,
    /// Create the collections on the way.
    #[serde(default)]
    pub(crate) parents: bool,
    /// Mode bits as in `st_mode & 0o7777`.
    #[param(maximum = 4095)]
    pub(crate) mode: Option<u32>,
    /// The modification time to show.
    #[param(value_type = Option<String>, format = DateTime)]
    pub(crate) mtime: Option<Instant>,
    /// The place or group that the bytes go to, instead of the default one.
    pub(crate) place: Option<String>,
}

/// Where to write: exactly one of the three.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PatchQuery {
    #[param(ignore)]
    pub(crate) path: Option<String>,
    #[param(ignore)]
    pub(crate) id: Option<u64>,
    /// Write from this byte on.
    pub(crate) offset: Option<u64>,
    /// Write at the end.
    #[serde(default)]
    pub(crate) append: bool,
    /// Cut, or fill up with zeros, to this many bytes.
    pub(crate) truncate: Option<u64>,
}

/// How to remove.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RemoveQuery {
    #[param(ignore)]
    pub(crate) path: Option<String>,
    #[param(ignore)]
    pub(crate) id: Option<u64>,
    /// With all that lies below.
    #[serde(default)]
    pub(crate) recursive: bool,
}
