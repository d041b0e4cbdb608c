//! Quotas: limits for the resources below a collection, or those of a user or group.

use minicbor::{Decode, Encode};

use super::{PersonId, ResourceId};

/// How much there may be at most; none is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
pub struct QuotaLimits {
    /// Bytes of contents.
    #[n(0)]
    pub bytes: Option<u64>,
    /// Resources of any kind.
    #[n(1)]
    pub resources: Option<u64>,
}

impl QuotaLimits {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How much there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QuotaTotal {
    /// Bytes of contents; those of versions, too, but not those of further replicas.
    pub bytes: u64,
    /// Resources of any kind.
    pub resources: u64,
}

/// What a quota limits, by id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuotaOf {
    /// Totals below a collection, without itself.
    Collection(ResourceId),
    /// What a user owns.
    User(PersonId),
    /// What the members of a group own together.
    Group(PersonId),
}

/// What a quota measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// Bytes of contents.
    Bytes,
    /// Resources of any kind.
    Resources,
}

impl Measure {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Resources => "resources",
        }
    }
}

/// What the record of a resource says of the counts that it bears on; none of it changes what a caller sees of the resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub struct Counting {
    /// The count of the quota of this collection.
    #[n(0)]
    pub(crate) quota: Option<u64>,
    /// For the top of a removed tree: the quotas for which it counts until it is deleted.
    #[n(1)]
    pub(crate) removed_from: Vec<Counted>,
    /// The count of this tree while it is about to be moved.
    #[n(2)]
    pub(crate) moving: Option<u64>,
    /// Of the root: whether a user or a group ever had a quota.
    #[cbor(n(3), default)]
    pub(crate) owners: bool,
    /// Of the root: whether anything ever had one.
    #[cbor(n(4), default)]
    pub(crate) in_use: bool,
}

impl Counting {
    /// `None` if it is empty.
    pub(crate) fn or_none(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }
}

/// The quota of a collection, or of a user or group, as long as its count is this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub(crate) struct Counted {
    /// The id of the collection, user or group.
    #[n(0)]
    pub(crate) of: u64,
    /// The id of its two counters, newly assigned when a quota is set where there was none.
    #[n(1)]
    pub(crate) count: u64,
}
