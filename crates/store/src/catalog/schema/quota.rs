//! The record of a quota.

use minicbor::{Decode, Encode};

use crate::model::{Counting, QuotaLimits, ResourceId, Time};

/// A quota of a collection, a user or a group; its totals are in two counters.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct QuotaRecord {
    /// The id of its counters.
    #[n(0)]
    pub(crate) count: u64,
    #[n(1)]
    pub(crate) kind: QuotaKind,
    #[n(2)]
    pub(crate) hard: QuotaLimits,
    #[n(3)]
    pub(crate) soft: QuotaLimits,
    /// For how many seconds the soft limits may be exceeded.
    #[n(4)]
    pub(crate) grace: u64,
    /// Whether what was there when it was set is still being counted. Nothing is refused until then.
    #[n(5)]
    pub(crate) counting: bool,
    /// Since when a soft limit is exceeded.
    #[n(6)]
    pub(crate) over_since: Option<Time>,
    /// Of a user: the groups that are counted, by the counts of their quotas.
    #[n(7)]
    pub(crate) groups: Vec<crate::model::Counted>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub(crate) enum QuotaKind {
    #[n(0)]
    Collection,
    #[n(1)]
    User,
    #[n(2)]
    Group,
}

/// What a record of a resource says of the counts above it, and of the whole store. Reading this much costs less than reading all of it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Placed {
    #[n(0)]
    pub(crate) parent: ResourceId,
    #[n(24)]
    pub(crate) counting: Option<Counting>,
    #[n(26)]
    pub(crate) late_links: Option<bool>,
}
