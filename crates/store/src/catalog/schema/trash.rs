//! The record of a removed resource while it is kept.

use minicbor::{Decode, Encode};

use crate::model::{PersonId, ResourceId, Time};

/// A removed resource that can be restored, with everything below it. Its own record has its name.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct TrashRecord {
    /// The collection that it was in.
    #[n(0)]
    pub(crate) parent: ResourceId,
    /// Its path at the time.
    #[n(1)]
    pub(crate) path: String,
    #[n(2)]
    pub(crate) removed: Time,
    #[n(3)]
    pub(crate) removed_by: PersonId,
    #[n(4)]
    pub(crate) until: Time,
    /// How much there is, once that was counted.
    #[n(5)]
    pub(crate) amount: Option<Amount>,
    /// The collection whose limit of bytes it counts for, if there was one.
    #[n(6)]
    pub(crate) limited_by: Option<ResourceId>,
}

/// How much there is in a removed tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Amount {
    /// Resources, the top among them.
    #[n(0)]
    pub(crate) resources: u64,
    /// Bytes of their contents; those of versions and copies in several places do not count.
    #[n(1)]
    pub(crate) bytes: u64,
}
