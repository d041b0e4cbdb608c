//! A place for contents: a disk, a bucket, or a group that keeps a copy in each of its members.

use std::collections::BTreeMap;

use minicbor::{Decode, Encode};

use crate::model::{PlaceId, Time};

/// The record of a place.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct PlaceInfo {
    /// Its name, unique among places.
    #[n(0)]
    pub name: String,
    /// What it is.
    #[n(1)]
    pub kind: PlaceKind,
    /// The group it is in. Writes to the group are also stored here.
    #[n(2)]
    pub parent: Option<PlaceId>,
    /// Whether it is used.
    #[n(3)]
    pub state: PlaceState,
    /// When it was added.
    #[n(4)]
    pub created: Time,
    /// When its record last changed.
    #[n(5)]
    pub modified: Time,
    /// What openings keep with it, by a word of their own, verbatim: a comment, a host, a context.
    #[n(6)]
    pub properties: BTreeMap<String, String>,
}

/// What a place is.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum PlaceKind {
    /// The one that the program opens with the store: [`PlaceId::MAIN`].
    #[n(0)]
    Main,
    /// A directory or a bucket.
    #[n(1)]
    Leaf {
        /// Where it is: `file:///data/vault`, `s3://bucket/prefix`. Never with credentials.
        #[n(0)]
        address: String,
    },
    /// Its members: each has a copy of what is put here.
    #[n(2)]
    Group,
}

/// Whether a place is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum PlaceState {
    /// It is read from and written to.
    #[default]
    #[n(0)]
    Up,
    /// It is left alone: a group writes to its other members.
    #[n(1)]
    Down,
    /// It is read from, but takes nothing new.
    #[n(2)]
    Draining,
}

impl PlaceState {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Draining => "draining",
        }
    }
}

impl PlaceInfo {
    /// The initial record of [`PlaceId::MAIN`].
    pub(crate) fn main() -> Self {
        Self {
            name: "main".to_owned(),
            kind: PlaceKind::Main,
            parent: None,
            state: PlaceState::Up,
            created: Time::from_nanos(0),
            modified: Time::from_nanos(0),
            properties: BTreeMap::new(),
        }
    }
}
