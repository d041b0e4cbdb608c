//! Versions, and what changed between two.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A kept version of an object's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// Its number.
    pub version: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Its SHA-256 in hexadecimal, if it is known.
    pub sha256: Option<String>,
    /// When it was written.
    pub modified: Timestamp,
    /// Who wrote it.
    pub modified_by: Option<String>,
    /// When it was kept.
    pub kept: Option<Timestamp>,
    /// Who kept it.
    #[serde(default)]
    pub kept_by: Option<String>,
    /// The time that it stands for: the one that its creator gave it, or when it became the current state.
    #[serde(default)]
    pub time: Option<Timestamp>,
    /// Its label.
    pub label: Option<String>,
}

/// What changed from one state of a resource to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionDifference {
    /// Whether the bytes differ; `None` if the resource has no content.
    pub content_changed: Option<bool>,
    /// The earlier content.
    pub from: Option<ComparedContent>,
    /// The later content.
    pub to: Option<ComparedContent>,
    /// Statements in the earlier description only.
    pub removed: Vec<ComparedStatement>,
    /// Statements in the later description only.
    pub added: Vec<ComparedStatement>,
}

/// The content of a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedContent {
    /// Its size in bytes.
    pub size: u64,
    /// Its SHA-256 in hexadecimal, if it is known.
    pub sha256: Option<String>,
    /// Its media type.
    pub media_type: Option<String>,
}

/// A statement, as an attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedStatement {
    /// What it is about, if that is not the resource itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The attribute.
    pub attribute: String,
    /// Its value.
    pub value: String,
    /// The unit of the value.
    #[serde(default)]
    pub unit: Option<String>,
}
