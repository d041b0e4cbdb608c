//! The catalog as the heart sees it: typed keys, framed records, and
//! transactions that carry their evidence.

mod caching_snapshot;
pub(crate) mod damage;
mod edges;
pub(crate) mod keys;
mod record;
mod schema;
mod transaction;
mod view;

pub(crate) use crate::model::ChangeKind;
pub(crate) use caching_snapshot::CachingSnapshot;
pub(crate) use edges::Edges;
pub(crate) use record::{Record, decoded, is_whole, value_of};
pub(crate) use schema::{
    Amount, BlobCopy, BlobRecord, ChangeRecord, Child, DamageRecord, DifferenceRecord, DrainJob,
    DrainPhase, FinishedRecord, GraphInPlace, GraphLength, GraphRecord, HolderRecord, JobRecord,
    KeyRecord, NoteRecord, Part, PartRecord, PartialGraph, Placed, QuotaKind, QuotaRecord,
    RestoreJob, RunningRecord, ServerId, ServerRecord, SessionRecord, Spread, SumsRecord, Tally,
    TicketRecord, TokenRecord, TrashRecord, TreeJob, TreeWork, UploadRecord, VersionAttributes,
    VersionRecord,
};
pub(crate) use transaction::{Announced, Reads, Transaction, Work};
pub(crate) use view::View;
