//! Recorded work.

use minicbor::{Decode, Encode};

use crate::model::{PersonId, PlaceId, ResourceId, Rights, Time};

/// Work that is done in bounded commits, and resumed after a restart.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) enum JobRecord {
    /// Sweep what is below a collection that has been removed.
    #[n(0)]
    Sweep(#[n(0)] ResourceId),
    /// Replicate or trim all objects below a collection.
    #[n(1)]
    Tree(#[n(0)] TreeJob),
    /// Move all that a place holds to another.
    #[n(2)]
    Drain(#[n(0)] DrainJob),
    /// Count how much there is in a removed tree that is kept.
    #[n(3)]
    Measure(#[n(0)] ResourceId),
    /// Restore what was at a path at a moment, with everything below it, under another one.
    #[n(4)]
    Restore(#[n(0)] RestoreJob),
    /// Count what was there when a quota was set: below the collection, or of the user or group, with this id.
    #[n(10)]
    Count(#[n(0)] u64),
    /// Forget that a tree is about to be moved, if it was not moved since.
    #[n(11)]
    Unmark(#[n(0)] ResourceId, #[n(1)] Time),
    /// Bind what names the path of this resource, which more descriptions do than one commit can bind.
    #[n(12)]
    Bind(#[n(0)] ResourceId),
}

/// Work on all objects below a collection, in path order.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct TreeJob {
    #[n(0)]
    pub(crate) top: ResourceId,
    /// The user who requested it: what they may not change is skipped.
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
    /// The maximum rights of the token with which it was requested, if it was a token.
    #[n(6)]
    pub(crate) rights: Option<Rights>,
    /// The only subtree that the token opens.
    #[n(7)]
    pub(crate) within: Option<ResourceId>,
}

/// A restoration of what was below a path, in path order, aside: nobody sees what was made before it is whole.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct RestoreJob {
    /// The resource created for the top.
    #[n(0)]
    pub(crate) made: ResourceId,
    /// The path that it had.
    #[n(1)]
    pub(crate) path: String,
    /// The moment, as a position of the change feed.
    #[n(2)]
    pub(crate) position: String,
    /// The path that it gets.
    #[n(3)]
    pub(crate) to: String,
    /// The user who requested it.
    #[n(4)]
    pub(crate) user: PersonId,
    /// Whether an administrator's rights are in force.
    #[n(5)]
    pub(crate) elevated: bool,
    /// The maximum rights of the token with which it was requested, if it was a token.
    #[n(6)]
    pub(crate) rights: Option<Rights>,
    /// The only subtree that the token opens.
    #[n(7)]
    pub(crate) within: Option<ResourceId>,
    /// Whether missing parent collections of `to` are created.
    #[n(8)]
    pub(crate) parents: bool,
    /// Whether resources that were not kept, or may not be read, are left out.
    #[n(9)]
    pub(crate) partial: bool,
    /// The last path that was seen to.
    #[n(10)]
    pub(crate) after: Option<String>,
    #[n(11)]
    pub(crate) tally: Tally,
    /// Whether the result is in the tree, or was left to be swept.
    #[n(12)]
    pub(crate) over: bool,
    /// Whether anything that was made has a link.
    #[n(13)]
    pub(crate) links: Option<bool>,
}

/// What to do with each object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
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

/// The move of everything in a place, in phases, so that each replica is always in its recorded place.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub(crate) enum DrainPhase {
    /// Blobs are copied.
    #[n(0)]
    Copy,
    /// Replicas are recorded in the other place.
    #[n(1)]
    Record,
    /// Copies are removed.
    #[n(2)]
    Remove,
}

/// How far work has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Tally {
    #[n(0)]
    pub(crate) done: u64,
    #[n(1)]
    pub(crate) failed: u64,
}
