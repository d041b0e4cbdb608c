//! Versions.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Instant, Names, Resource};

/// The versions of an object, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Versions {
    pub(crate) items: Vec<Version>,
}

/// A state that was kept.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Version {
    /// Its number; numbers grow, and never return.
    pub(crate) version: u64,
    pub(crate) size: u64,
    /// SHA-256 of the content, in hexadecimal; null while it is not known.
    pub(crate) sha256: Option<String>,
    /// When it became the current state.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) modified: Instant,
    /// Who made it so.
    pub(crate) modified_by: String,
    /// When it was kept.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) kept: Instant,
    /// What somebody called it.
    pub(crate) label: Option<String>,
}

impl Version {
    pub(crate) fn of(
        version: cenote_store::Version,
        names: &mut Names<'_>,
    ) -> cenote_store::Result<Self> {
        let content = version.content.as_ref();
        Ok(Self {
            version: version.version,
            size: content.map_or(0, |content| content.size),
            sha256: content.and_then(|content| content.digests.sha256).map(hex::encode),
            modified: Instant(version.modified),
            modified_by: names.of(version.modified_by)?,
            kept: Instant(version.kept),
            label: version.label,
        })
    }
}

/// Which state of an object.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct VersionQuery {
    /// A version that was kept, instead of the current content.
    pub(crate) version: Option<u64>,
}

/// What to do with the versions of an object.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeVersions {
    pub(crate) path: Option<String>,
    pub(crate) id: Option<u64>,
    pub(crate) op: VersionOp,
    /// Which version: for `restore`, and for `prune` of one.
    pub(crate) version: Option<u64>,
    /// What to call it: for `keep`.
    pub(crate) label: Option<String>,
    /// How many to keep, the newest: for `prune`.
    pub(crate) keep: Option<u32>,
}

/// An operation on versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum VersionOp {
    /// Keep the current state.
    Keep,
    /// Make a version the current state again.
    Restore,
    /// Drop one, or all but the newest few.
    Prune,
}

/// What came of it: one of the three.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum VersionOutcome {
    /// The version that was kept.
    Version(Version),
    /// The object, restored.
    Resource(Box<Resource>),
    /// How many versions were dropped.
    Pruned(usize),
}
