//! The queries of `/v1/fs`. Its bodies are bytes.

use serde::Deserialize;
use utoipa::IntoParams;

use crate::native::json::Instant;

/// What to read.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReadQuery {
    /// A version, instead of the current content.
    pub(crate) version: Option<u64>,
    /// The replica of this number, from its place only.
    pub(crate) replica: Option<u32>,
    /// Read the stored bytes against their checksums first, and return them from intact copies.
    #[serde(default)]
    pub(crate) verify: bool,
}

/// Options of a put.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PutQuery {
    /// Create missing parent collections.
    #[serde(default)]
    pub(crate) parents: bool,
    /// Mode bits as in `st_mode & 0o7777`.
    #[param(maximum = 4095)]
    pub(crate) mode: Option<u32>,
    /// The modification time to show.
    #[param(value_type = Option<String>, format = DateTime)]
    pub(crate) mtime: Option<Instant>,
    /// The place or group to store the bytes in, instead of the default one.
    pub(crate) place: Option<String>,
}

/// Where to write: exactly one of the three.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PatchQuery {
    /// Write at this offset.
    pub(crate) offset: Option<u64>,
    /// Write at the end.
    #[serde(default)]
    pub(crate) append: bool,
    /// Cut, or fill up with zeros, to this many bytes.
    pub(crate) truncate: Option<u64>,
}

/// What to write to a stage: exactly one of the four.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct StagePatchQuery {
    /// Write at this offset.
    pub(crate) offset: Option<u64>,
    /// Write at the end.
    #[serde(default)]
    pub(crate) append: bool,
    /// Cut, or fill up with zeros, to this many bytes.
    pub(crate) truncate: Option<u64>,
    /// Write so many ranges: the body begins with the offset and the length of each, in ascending order, as 8 bytes each with the most significant first.
    pub(crate) ranges: Option<usize>,
}

/// Options of a removal.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RemoveQuery {
    /// With everything below.
    #[serde(default)]
    pub(crate) recursive: bool,
    /// With the versions; otherwise resources with versions are not removed, unless they are moved to the trash with their versions.
    #[serde(default)]
    pub(crate) versions: bool,
    /// For good, bypassing the trash.
    #[serde(default)]
    pub(crate) permanent: bool,
}
