//! Records that only the heart sees. Those that callers see are in `model`.

mod blob;
mod change;
mod graph;
mod job;
mod note;
mod quota;
mod server;
mod trash;
mod version;

use minicbor::{Decode, Encode};

pub(crate) use self::blob::{BlobCopy, BlobRecord, DamageRecord, SumsRecord};
pub(crate) use self::change::ChangeRecord;
pub(crate) use self::graph::{GraphInPlace, GraphLength, GraphRecord, Part, PartialGraph, Spread};
pub(crate) use self::job::{DrainJob, DrainPhase, JobRecord, RestoreJob, Tally, TreeJob, TreeWork};
pub(crate) use self::note::NoteRecord;
pub(crate) use self::quota::{Placed, QuotaKind, QuotaRecord};
pub(crate) use self::server::{FinishedRecord, HolderRecord, KeyRecord, ServerId, ServerRecord};
pub(crate) use self::trash::{Amount, TrashRecord};
pub(crate) use self::version::{DifferenceRecord, VersionAttributes, VersionRecord};
use crate::model::{
    ContentHead, ContentId, Digests, Kind, PersonId, PlaceId, ResourceId, Rights, Time, TokenScope,
};

/// An entry of a collection: enough to list names and kinds in one scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Child {
    #[n(0)]
    pub(crate) id: ResourceId,
    #[n(1)]
    pub(crate) kind: Kind,
}

/// An access token; the token itself is not kept.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct TokenRecord {
    #[n(0)]
    pub(crate) id: u64,
    #[n(1)]
    pub(crate) user: PersonId,
    #[n(2)]
    pub(crate) label: String,
    /// What may be done with it at most.
    #[n(3)]
    pub(crate) rights: Rights,
    /// The only subtree it opens, if not all.
    #[n(4)]
    pub(crate) within: Option<ResourceId>,
    #[n(5)]
    pub(crate) created: Time,
    #[n(6)]
    pub(crate) expires: Option<Time>,
    /// Further permissions; tokens created before there were scopes have none recorded.
    #[n(7)]
    pub(crate) scopes: Option<Vec<TokenScope>>,
    /// How it is extended, if it is a login.
    #[n(8)]
    pub(crate) session: Option<SessionRecord>,
    /// The token with which it was created; they are revoked together.
    #[n(9)]
    pub(crate) made_by: Option<u64>,
}

/// A login that lasts as long as it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(crate) struct SessionRecord {
    /// Seconds without use after which it ends.
    #[n(0)]
    pub(crate) idle: u64,
    /// When it ends however much it is used.
    #[n(1)]
    pub(crate) until: Time,
}

/// A ticket: access to one resource, and everything below, for everybody who presents it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct TicketRecord {
    #[n(0)]
    pub(crate) resource: ResourceId,
    #[n(1)]
    pub(crate) rights: Rights,
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
    /// Only these may use it; empty means anyone.
    #[n(11)]
    pub(crate) persons: Vec<PersonId>,
    /// Only from these addresses; empty means from anywhere.
    #[n(12)]
    pub(crate) hosts: Vec<String>,
    /// Whether it was created by a user who may read the resource, and need not control it.
    #[n(13)]
    pub(crate) by_reader: Option<bool>,
}

/// An upload in progress: how the object will be put.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
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
    /// The second half of its id, so that it cannot be guessed. Missing in uploads created before it was introduced.
    #[n(11)]
    pub(crate) secret: Option<u64>,
    /// The SHA-256 of the ticket with which it was created. Number 12 was the ticket itself.
    #[n(13)]
    #[cbor(with = "minicbor::bytes")]
    pub(crate) ticket: Option<[u8; 32]>,
    /// The resource that it is for, if it was named by its id.
    #[n(14)]
    pub(crate) target: Option<ResourceId>,
    /// The content of a stage, to which nothing else refers; none of an upload in parts.
    #[n(15)]
    pub(crate) stage: Option<ContentHead>,
    /// The highest attempt that has changed the stage, if one other than the first has.
    #[n(16)]
    pub(crate) attempt: Option<u64>,
}

/// A part of an upload that has arrived, as a content of its own.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
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

/// The SHA-256 of a whole up to the end of a part that arrived in order.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct RunningRecord {
    /// Its state, as in `Sha256State`.
    #[cbor(n(0), with = "minicbor::bytes")]
    pub(crate) state: Vec<u8>,
    /// The part that it continued from, if this is not the first one.
    #[n(1)]
    pub(crate) after: Option<ContentId>,
}
