//! The record of a version.

use minicbor::{Decode, Encode};

use crate::Result;
use crate::catalog::{Reads, Record, keys};
use crate::model::{ContentHead, PersonId, ResourceId, Statement, Time};

/// A version of a resource: its content and its attributes.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct VersionRecord {
    #[n(0)]
    pub(crate) content: Option<ContentHead>,
    /// The description, in records of earlier programs; else it is in rows of its own.
    #[n(1)]
    pub(crate) statements: Vec<Statement>,
    /// When it became the current state, or its access was changed last.
    #[n(2)]
    pub(crate) modified: Time,
    #[n(3)]
    pub(crate) modified_by: PersonId,
    /// When it was kept.
    #[n(4)]
    pub(crate) kept: Time,
    #[n(5)]
    pub(crate) label: Option<String>,
    /// Whether the description is in rows of its own.
    #[cbor(n(6), default)]
    pub(crate) is_apart: bool,
    #[n(7)]
    pub(crate) kept_by: Option<PersonId>,
    /// The time set by its creator.
    #[n(8)]
    pub(crate) time: Option<Time>,
    /// Further attributes that a client may set; not in records of earlier programs.
    #[n(9)]
    pub(crate) attributes: Option<VersionAttributes>,
}

impl VersionRecord {
    /// All versions of a resource with their numbers, in ascending order.
    pub(crate) fn all_of(reads: &impl Reads, id: ResourceId) -> Result<Vec<(u64, Self)>> {
        let rows = reads.rows(&keys::versions(id), usize::MAX)?;
        let number = |key: &[u8]| keys::last_id(key).unwrap_or_default();
        rows.iter().map(|(key, value)| Ok((number(key), Self::from_value(value)?))).collect()
    }
}

/// Former attributes of a resource, other than content and description.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct VersionAttributes {
    #[n(0)]
    pub(crate) owner: PersonId,
    #[n(1)]
    pub(crate) mode: Option<u32>,
    #[n(2)]
    pub(crate) mtime: Option<Time>,
    /// Where it pointed, for a link.
    #[n(3)]
    pub(crate) target: Option<String>,
    /// When the content changed.
    #[n(4)]
    pub(crate) written: Time,
    /// When the description changed.
    #[n(5)]
    pub(crate) described: Time,
}

/// A part of the description of a version: of all of it, or of its difference to the description of the next version that is
/// kept; of the newest version, to the current description.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct DifferenceRecord {
    /// Statements that it has, and the other one has not; all of them, if it is whole.
    #[n(0)]
    pub(crate) has: Vec<Statement>,
    /// Statements that the other one has, and it has not.
    #[n(1)]
    pub(crate) lacks: Vec<Statement>,
    /// Whether it has all statements.
    #[cbor(n(2), default)]
    pub(crate) is_whole: bool,
}
