//! Properties of a resource that a header of fcrepo cannot represent: `.cenote/resource.json`, if there are
//! any.

use cenote_client::{Avu, Resource, ResourceKind};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub(super) const PATH: &str = ".cenote/resource.json";
pub(super) const DIRECTORY: &str = ".cenote/";

/// The properties.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Extra {
    /// A description or a link: everything else follows from the header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<ResourceKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mode: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mtime: Option<Timestamp>,
    /// Whether the state is a version in the store. Exports before 2026-11-27 do not say that.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) kept: bool,
    /// The statements that have units, which triples have not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) units: Vec<Avu>,
}

impl Extra {
    /// What is so of a version.
    pub(super) fn of_version(resource: &Resource) -> Self {
        Self { kept: true, ..Self::of_kind(resource) }
    }

    /// What is so of every state of a resource.
    fn of_kind(resource: &Resource) -> Self {
        let is_named = matches!(resource.kind, ResourceKind::Description | ResourceKind::Link);
        Self {
            kind: is_named.then_some(resource.kind),
            target: resource.target.clone(),
            ..Self::default()
        }
    }

    /// What is so of the current state.
    pub(super) fn of_current(resource: &Resource, described: Vec<Avu>) -> Self {
        Self {
            mode: resource.mode,
            mtime: resource.mtime,
            units: described.into_iter().filter(|avu| avu.unit.is_some()).collect(),
            ..Self::of_kind(resource)
        }
    }

    /// The text, if there are any properties.
    pub(super) fn text(&self) -> Option<Vec<u8>> {
        let is_something = *self != Self::default();
        is_something.then(|| serde_json::to_vec(self).unwrap_or_default())
    }
}
