//! Uploads, in parts or as stages.

use cenote_store::StageFrom;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::native::json::Instant;

/// A new upload.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewUpload {
    /// The path of the object.
    #[schema(example = "/lab/run7/traj.gsd")]
    pub(crate) path: Option<String>,
    /// The id of an existing object whose content it will be, instead of a path.
    pub(crate) id: Option<u64>,
    /// The id of the collection of the object, with `name`, instead of a path.
    pub(crate) parent: Option<u64>,
    /// The name in that collection.
    pub(crate) name: Option<String>,
    /// The size of the whole, if known; it is then checked.
    pub(crate) size: Option<u64>,
    pub(crate) media_type: Option<String>,
    /// Mode bits as in `st_mode & 0o7777`.
    #[schema(maximum = 4095)]
    pub(crate) mode: Option<u32>,
    /// The modification time to show.
    pub(crate) mtime: Option<Instant>,
    /// The entity tag of the content that it replaces.
    pub(crate) if_match: Option<String>,
    /// `*`: only if the object does not exist.
    pub(crate) if_none_match: Option<String>,
    /// Create missing parent collections.
    #[serde(default)]
    pub(crate) parents: bool,
    /// The place or group to store the bytes in, instead of the default one.
    pub(crate) place: Option<String>,
    /// Makes it a stage, which can be written at any offset, truncated and read, instead of being sent in parts.
    pub(crate) from: Option<StageBase>,
}

/// The initial content of a stage.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StageBase {
    /// The current content of the object, whose tag becomes `if_match` by default.
    Object,
    /// No bytes.
    Nothing,
}

impl From<StageBase> for StageFrom {
    fn from(base: StageBase) -> Self {
        match base {
            StageBase::Object => Self::Object,
            StageBase::Nothing => Self::Nothing,
        }
    }
}

/// Options of a part.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PartQuery {
    /// If the bytes end early, keep those that arrived as a shorter part.
    #[serde(default)]
    pub(crate) keep: bool,
}

/// An upload that has begun.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BegunUpload {
    pub(crate) id: String,
    /// Until when it is kept without being completed.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) expires: Instant,
    /// The size of a stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) staged: Option<u64>,
}

/// The size of a stage after a change.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StageSize {
    /// Bytes.
    pub(crate) size: u64,
}

/// The state of an upload.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UploadState {
    pub(crate) id: String,
    pub(crate) path: String,
    /// The size announced.
    pub(crate) size: Option<u64>,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) expires: Instant,
    /// In the order of their offsets.
    pub(crate) parts: Vec<Part>,
    /// The size of a stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) staged: Option<u64>,
}

/// A part that has arrived, durable.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Part {
    /// Its first byte in the whole.
    pub(crate) offset: u64,
    /// Bytes.
    pub(crate) length: u64,
    /// SHA-256, in hexadecimal, if it was announced.
    pub(crate) sha256: Option<String>,
    /// CRC-64/NVME, in hexadecimal.
    pub(crate) crc64nvme: Option<String>,
}

impl From<cenote_store::Part> for Part {
    fn from(part: cenote_store::Part) -> Self {
        let cenote_store::Part { offset, length, digests } = part;
        let crc64nvme = digests.crc64nvme.map(|crc| format!("{crc:016x}"));
        Self { offset, length, sha256: digests.sha256.map(hex::encode), crc64nvme }
    }
}

/// The end of an upload.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Complete {
    /// SHA-256 of the whole, in hexadecimal, which is checked.
    #[schema(pattern = "^[0-9a-fA-F]{64}$")]
    pub(crate) sha256: Option<String>,
    /// Publish even if the object has changed since a stage was begun from it, or no longer has the tag of `if_match`.
    #[serde(default)]
    pub(crate) force: bool,
}
