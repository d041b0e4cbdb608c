//! The queries of `/v1/fs`. Its bodies are bytes.

use serde::Deserialize;
use utoipa::IntoParams;

use crate::native::json::Instant;

/// What to read.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReadQuery {
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
#[into_params(parameter_in = Query)]
pub(crate) struct PutQuery {
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
#[into_params(parameter_in = Query)]
pub(crate) struct PatchQuery {
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
#[into_params(parameter_in = Query)]
pub(crate) struct RemoveQuery {
    /// With all that lies below.
    #[serde(default)]
    pub(crate) recursive: bool,
    /// With the versions that were kept; without this, what has versions stays, unless it goes to the trash with them.
    #[serde(default)]
    pub(crate) versions: bool,
    /// For good, and not into the trash.
    #[serde(default)]
    pub(crate) permanent: bool,
}
