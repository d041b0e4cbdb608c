//! Records that only the heart sees. Those that callers see are in `model`.

use minicbor::data::Type;
use minicbor::encode::Write;
use minicbor::{CborLen, Decode, Decoder, Encode, Encoder, decode, encode};

use crate::model::{
    ChangeKind, ContentHead, ContentId, Digests, Kind, Level, PersonId, PlaceId, ResourceId,
    Statement, Time,
};

/// An entry of a collection: enough to list names and kinds in one scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode, CborLen)]
pub(crate) struct Child {
    #[n(0)]
    pub(crate) id: ResourceId,
    #[n(1)]
    pub(crate) kind: Kind,
}

/// The description of a resource, stored once, as a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode, CborLen)]
pub(crate) struct GraphRecord {
    #[n(0)]
    pub(crate) statements: Vec<Statement>,
}

/// A blob and where its copies are.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode, CborLen)]
pub(crate) struct BlobRecord {
    #[n(0)]
    pub(crate) size: u64,
    #[n(1)]
    pub(crate) digests: Digests,
    /// Its copies, the one to read first.
    #[n(2)]
    pub(crate) copies: Vec<BlobCopy>,
}

/// Where a copy of a blob is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BlobCopy {
    /// A place keeps it, under the blob's id.
    Kept(PlaceId),
    /// A file that was registered where it lies, and counts to a place. It is never written or deleted.
    Outside(PlaceId, String),
}

impl BlobCopy {
    /// The place that it is in, or counts to.
    pub(crate) fn place(&self) -> PlaceId {
        match self {
            Self::Kept(place) | Self::Outside(place, _) => *place,
        }
    }
}

impl BlobRecord {
    pub(crate) fn copy_in(&self, place: PlaceId) -> Option<&BlobCopy> {
        self.copies.iter().find(|copy| copy.place() == place)
    }
}

/// A place's id, or an array of that and the path of the file. Format 1 had the name of the only place.
impl<C> Encode<C> for BlobCopy {
    fn encode<W: Write>(
        &self,
        e: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), encode::Error<W::Error>> {
        match self {
            Self::Kept(place) => e.u64(place.0)?.ok(),
            Self::Outside(place, path) => e.array(2)?.u64(place.0)?.str(path)?.ok(),
        }
    }
}

impl<'b, C> Decode<'b, C> for BlobCopy {
    fn decode(d: &mut Decoder<'b>, _: &mut C) -> Result<Self, decode::Error> {
        match d.datatype()? {
            Type::String => d.skip().map(|()| Self::Kept(PlaceId::MAIN)),
            Type::Array => match d.array()? {
                Some(2) => Ok(Self::Outside(PlaceId(d.u64()?), d.str()?.to_owned())),
                _ => Err(decode::Error::message("a file outside has a place and a path")),
            },
            _ => Ok(Self::Kept(PlaceId(d.u64()?))),
        }
    }
}

impl<C> CborLen<C> for BlobCopy {
    fn cbor_len(&self, ctx: &mut C) -> usize {
        match self {
            Self::Kept(place) => place.0.cbor_len(ctx),
            Self::Outside(place, path) => 1 + place.0.cbor_len(ctx) + path.cbor_len(ctx),
        }
    }
}

/// A version of an object: content and description together.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode, CborLen)]
pub(crate) struct VersionRecord {
    #[n(0)]
    pub(crate) content: Option<ContentHead>,
    #[n(1)]
    pub(crate) statements: Vec<Statement>,
    /// When it became the current state.
    #[n(2)]
    pub(crate) modified: Time,
    #[n(3)]
    pub(crate) modified_by: PersonId,
    /// When it was kept.
    #[n(4)]
    pub(crate) kept: Time,
    #[n(5)]
    pub(crate) label: Option<String>,
}

/// An entry of the change feed.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode, CborLen)]
pub(crate) struct ChangeRecord {
    #[n(0)]
    pub(crate) kind: ChangeKind,
    #[n(1)]
    pub(crate) id: ResourceId,
    /// Where it is after the change; where it was, for a removal.
    #[n(2)]
    pub(crate) parent: ResourceId,
    #[n(3)]
    pub(crate) name: String,
    /// Where it was before, for a move.
    #[n(4)]
    pub(crate) from: Option<(ResourceId, String)>,
    #[n(5)]
    pub(crate) at: Time,
    #[n(6)]
    pub(crate) by: PersonId,
    #[n(7)]
    pub(crate) revision: u64,
}

/// An access token; the token itself is not kept.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode, CborLen)]
pub(crate) struct TokenRecord {
    #[n(0)]
    pub(crate) id: u64,
    #[n(1)]
    pub(crate) user: PersonId,
    #[n(2)]
    pub(crate) label: String,
    /// What may be done with it at most.
    #[n(3)]
    pub(crate) level: Level,
    /// The only subtree it opens, if not all.
    #[n(4)]
    pub(crate) within: Option<ResourceId>,
    #[n(5)]
    pub(crate) created: Time,
    #[n(6)]
    pub(crate) expires: Option<Time>,
}

/// A ticket: access to one resource, and what is below, for whoever shows it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode, CborLen)]
pub(crate) struct TicketRecord {
    #[n(0)]
    pub(crate) resource: ResourceId,
    #[n(1)]
    pub(crate) level: Level,
    #[n(2)]
    pub(crate) issuer: PersonId,
    #[n(3)]
    pub(crate) created: Time,
    #[n(4)]
    pub(crate) expires: Option<Time>,
    /// How often it may be used; 0 means without limit. The same for the others.
    #[n(5)]
    pub(crate) uses_limit: u64,
    #[n(6)]
    pub(crate) uses: u64,
    #[n(7)]
    pub(crate) writes_limit: u64,
    #[n(8)]
    pub(crate) writes: u64,
    #[n(9)]
    pub(crate) bytes_limit: u64,
    #[n(10)]
    pub(crate) bytes: u64,
    /// Only these may use it; empty means anybody.
    #[n(11)]
    pub(crate) persons: Vec<PersonId>,
    /// Only from these addresses; empty means from anywhere.
    #[n(12)]
    pub(crate) hosts: Vec<String>,
}

/// An upload that is under way: how the object will be put.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode, CborLen)]
pub(crate) struct UploadRecord {
    #[n(0)]
    pub(crate) path: String,
    #[n(1)]
    pub(crate) owner: PersonId,
    #[n(2)]
    pub(crate) expires: Time,
    /// The size announced, if any.
    #[n(3)]
    pub(crate) size: Option<u64>,
    #[n(4)]
    pub(crate) media_type: Option<String>,
    #[n(5)]
    pub(crate) mode: Option<u32>,
    #[n(6)]
    pub(crate) mtime: Option<Time>,
    #[n(7)]
    pub(crate) parents: bool,
    #[n(8)]
    pub(crate) if_match: Option<String>,
    #[n(9)]
    pub(crate) if_absent: bool,
    /// Where the bytes go, if a place was named.
    #[n(10)]
    pub(crate) place: Option<PlaceId>,
}

/// A part of an upload that has arrived, as a content of its own.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode, CborLen)]
pub(crate) struct PartRecord {
    #[n(0)]
    pub(crate) length: u64,
    #[n(1)]
    pub(crate) digests: Digests,
    #[n(2)]
    pub(crate) content: ContentId,
    #[n(3)]
    pub(crate) running: Option<RunningRecord>,
}

/// The SHA-256 of a whole up to the end of a part that came in order.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode, CborLen)]
pub(crate) struct RunningRecord {
    /// Where it stands, as `Sha256State` gives it.
    #[cbor(n(0), with = "minicbor::bytes")]
    pub(crate) state: Vec<u8>,
    /// The part that it went on from, if this is not the first one.
    #[n(1)]
    pub(crate) after: Option<ContentId>,
}

/// Work that is done in bounded commits, and resumed after a restart.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode, CborLen)]
pub(crate) enum JobRecord {
    /// Sweep what lies below a collection that has been removed.
    #[n(0)]
    Sweep(#[n(0)] ResourceId),
    /// Replicate or trim all objects below a collection.
    #[n(1)]
    Tree(#[n(0)] TreeJob),
    /// Move all that a place holds to another.
    #[n(2)]
    Drain(#[n(0)] DrainJob),
}

/// Work on all objects below a collection, in path order.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode, CborLen)]
pub(crate) struct TreeJob {
    #[n(0)]
    pub(crate) top: ResourceId,
    /// Who asked for it: what they may not change is left alone.
    #[n(1)]
    pub(crate) user: PersonId,
    /// Whether an administrator's rights are in force.
    #[n(2)]
    pub(crate) elevated: bool,
    #[n(3)]
    pub(crate) what: TreeWork,
    /// The last path that was seen to.
    #[n(4)]
    pub(crate) after: Option<String>,
    #[n(5)]
    pub(crate) tally: Tally,
}

/// What to do with each object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode, CborLen)]
pub(crate) enum TreeWork {
    #[n(0)]
    Replicate(#[n(0)] PlaceId),
    #[n(1)]
    Trim {
        #[n(0)]
        place: Option<PlaceId>,
        /// How many good replicas stay.
        #[n(1)]
        keep: u64,
    },
}

/// The move of all that a place holds, in phases, so that each replica always is where it is said to be.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode, CborLen)]
pub(crate) struct DrainJob {
    #[n(0)]
    pub(crate) from: PlaceId,
    #[n(1)]
    pub(crate) to: PlaceId,
    #[n(2)]
    pub(crate) phase: DrainPhase,
    /// The last key that was seen to in this phase.
    #[cbor(n(3), with = "minicbor::bytes")]
    pub(crate) after: Option<Vec<u8>>,
    #[n(4)]
    pub(crate) tally: Tally,
}

/// What a drain does with each row of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode, CborLen)]
#[cbor(index_only)]
pub(crate) enum DrainPhase {
    /// Blobs are copied.
    #[n(0)]
    Copy,
    /// Replicas are said to be in the other place.
    #[n(1)]
    Record,
    /// Copies are removed.
    #[n(2)]
    Remove,
}

/// How far work has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode, CborLen)]
pub(crate) struct Tally {
    #[n(0)]
    pub(crate) done: u64,
    #[n(1)]
    pub(crate) failed: u64,
}
