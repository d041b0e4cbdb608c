//! Access lists as data. What they mean together is decided in `access`.

use minicbor::{CborLen, Decode, Encode};

use super::PersonId;
use crate::{Error, Result};

/// What somebody may do, in ten steps; each includes those before it. The
/// words and their order are those of iRODS 4.3.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode, CborLen, Default,
)]
#[cbor(index_only)]
pub enum Level {
    /// Nothing; the resource is not even seen.
    #[n(0)]
    #[default]
    Null,
    /// See that it is there, and its description.
    #[n(1)]
    ReadMetadata,
    /// Read its content, or list its children.
    #[n(2)]
    ReadObject,
    /// Add to its description.
    #[n(3)]
    CreateMetadata,
    /// Change its description.
    #[n(4)]
    ModifyMetadata,
    /// Remove from its description.
    #[n(5)]
    DeleteMetadata,
    /// Create children in it.
    #[n(6)]
    CreateObject,
    /// Change its content.
    #[n(7)]
    ModifyObject,
    /// Remove or move it.
    #[n(8)]
    DeleteObject,
    /// Everything, including who else may.
    #[n(9)]
    Own,
}

impl Level {
    /// All levels, from the least to the most.
    pub const ALL: [Self; 10] = [
        Self::Null,
        Self::ReadMetadata,
        Self::ReadObject,
        Self::CreateMetadata,
        Self::ModifyMetadata,
        Self::DeleteMetadata,
        Self::CreateObject,
        Self::ModifyObject,
        Self::DeleteObject,
        Self::Own,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::ReadMetadata => "read_metadata",
            Self::ReadObject => "read_object",
            Self::CreateMetadata => "create_metadata",
            Self::ModifyMetadata => "modify_metadata",
            Self::DeleteMetadata => "delete_metadata",
            Self::CreateObject => "create_object",
            Self::ModifyObject => "modify_object",
            Self::DeleteObject => "delete_object",
            Self::Own => "own",
        }
    }
}

impl std::str::FromStr for Level {
    type Err = Error;

    /// Also takes `none`, `read` and `write`, as people say them.
    fn from_str(word: &str) -> Result<Self> {
        let word = match word {
            "none" => "null",
            "read" => "read_object",
            "write" => "modify_object",
            word => word,
        };
        Self::ALL.into_iter().find(|level| level.as_str() == word).ok_or_else(|| {
            Error::invalid(format!("no such level of access: {word:.64?}"))
                .with_hint("levels are none, read, write, delete_object, own, and those between")
        })
    }
}

/// How far a grant reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode, CborLen)]
#[cbor(index_only)]
pub enum Scope {
    /// This resource only (iRODS).
    #[n(0)]
    This,
    /// What lies below, unless something nearer says otherwise (WebAC's defaults).
    #[n(1)]
    Default,
    /// This resource and all that lies below, come what may (a DNAnexus project).
    #[n(2)]
    Subtree,
}

/// One line of an access list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode, CborLen)]
pub struct Grant {
    /// Who: a user or a group.
    #[n(0)]
    pub person: PersonId,
    /// What they may do.
    #[n(1)]
    pub level: Level,
    /// Where.
    #[n(2)]
    pub scope: Scope,
}

/// The access list of one resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode, CborLen)]
pub struct Access {
    /// At most one for each person and scope.
    #[n(0)]
    pub grants: Vec<Grant>,
    /// Defaults of the collections above do not apply here.
    #[n(1)]
    pub closed: bool,
    /// What is created here gets a copy of the grants on this collection (iRODS: inheritance).
    #[n(2)]
    pub inherit: bool,
}

impl Access {
    /// Sets what `person` may do in `scope`; [`Level::Null`] removes the line.
    pub fn set(&mut self, person: PersonId, level: Level, scope: Scope) {
        self.grants.retain(|grant| (grant.person, grant.scope) != (person, scope));
        if level > Level::Null {
            self.grants.push(Grant { person, level, scope });
        }
    }
}
