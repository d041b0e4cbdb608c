//! Versions.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::native::json::Attribute;
use crate::native::json::{Instant, Names, Resource};

/// The versions of a resource, the newest number first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Versions {
    pub(crate) items: Vec<Version>,
}

/// A kept state.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Version {
    /// Its number; numbers increase and are never reused.
    pub(crate) version: u64,
    pub(crate) size: u64,
    /// SHA-256 of the content, in hexadecimal; null while it is not known.
    pub(crate) sha256: Option<String>,
    /// When it became the current state.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) modified: Instant,
    /// The user who made it the current state.
    pub(crate) modified_by: String,
    /// When it was kept.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) kept: Instant,
    /// The user who kept it, by a request or by the change that replaced it. Null for versions of earlier programs.
    pub(crate) kept_by: Option<String>,
    /// The time that it represents: given by its creator, or the time when its content or description became current.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) time: Instant,
    /// Its label.
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
            kept_by: version.kept_by.map(|by| names.of(by)).transpose()?,
            time: Instant(version.time),
            label: version.label,
        })
    }
}

/// The state of an object.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct VersionQuery {
    /// A version, instead of the current content.
    pub(crate) version: Option<u64>,
}

/// Which versions to compare.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CompareQuery {
    /// The earlier version.
    pub(crate) from: u64,
    /// The later version; by default the current state.
    pub(crate) to: Option<u64>,
}

/// The differences between two states of a resource.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VersionDifference {
    /// Whether the bytes differ; null for resources without content.
    pub(crate) content_changed: Option<bool>,
    /// The earlier content.
    pub(crate) from: Option<ComparedContent>,
    /// The later content.
    pub(crate) to: Option<ComparedContent>,
    /// Statements that only the earlier description has.
    pub(crate) removed: Vec<ComparedStatement>,
    /// Statements that only the later description has.
    pub(crate) added: Vec<ComparedStatement>,
}

/// The content of a state.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ComparedContent {
    pub(crate) size: u64,
    /// SHA-256, in hexadecimal; null while it is not known.
    pub(crate) sha256: Option<String>,
    pub(crate) media_type: Option<String>,
}

/// A statement, as an attribute.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ComparedStatement {
    /// Its subject, if that is not the resource itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<String>,
    #[serde(flatten)]
    pub(crate) attribute: Attribute,
}

impl From<cenote_store::VersionDifference> for VersionDifference {
    fn from(difference: cenote_store::VersionDifference) -> Self {
        let content_changed = difference.content_changed();
        let [from, to] = difference.contents.map(|content| content.map(ComparedContent::from));
        let shown = |graph: cenote_store::Graph| graph.into_iter().map(Into::into).collect();
        let (removed, added) = (shown(difference.removed), shown(difference.added));
        Self { content_changed, from, to, removed, added }
    }
}

impl From<cenote_store::ContentHead> for ComparedContent {
    fn from(content: cenote_store::ContentHead) -> Self {
        let sha256 = content.digests.sha256.map(hex::encode);
        Self { size: content.size, sha256, media_type: content.media_type }
    }
}

impl From<cenote_store::Statement> for ComparedStatement {
    fn from(statement: cenote_store::Statement) -> Self {
        let attribute = cenote_store::Avu::of(&statement).into();
        Self { subject: statement.subject, attribute }
    }
}

/// What to do with the versions of a resource.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeVersions {
    pub(crate) path: Option<String>,
    pub(crate) id: Option<u64>,
    pub(crate) op: VersionOp,
    /// Which version: for `restore` and `label`, and for `prune` of one.
    pub(crate) version: Option<u64>,
    /// The label: for `keep`, and for `label`, which removes the label if this is missing.
    pub(crate) label: Option<String>,
    /// The time that it represents, not in the future: for `keep`.
    pub(crate) time: Option<Instant>,
    /// A version of its own, also if the current state is one already, which would get the label and the time: for `keep`.
    #[serde(default)]
    pub(crate) another: bool,
    /// The number of newest versions to keep: for `prune`.
    pub(crate) keep: Option<u32>,
    /// For how many days to keep the newest version, in UTC: for `prune`.
    pub(crate) keep_daily: Option<u32>,
    /// The same for weeks.
    pub(crate) keep_weekly: Option<u32>,
    /// The same for months.
    pub(crate) keep_monthly: Option<u32>,
}

/// An operation on versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum VersionOp {
    /// Keep the current state.
    Keep,
    /// Make a version the current state again.
    Restore,
    /// Drop one, or all versions that have no label and that no rule keeps.
    Prune,
    /// Change or remove the label of one.
    Label,
}

/// The result: one of the three.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum VersionOutcome {
    /// The version that was kept.
    Version(Version),
    /// The resource, restored.
    Resource(Box<Resource>),
    /// How many versions were dropped.
    Pruned(usize),
}
