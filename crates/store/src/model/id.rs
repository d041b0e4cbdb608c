//! Ids: 64 bits, never zero, never reused.

use std::fmt;

use minicbor::{Decode, Encode};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode,
        )]
        #[cbor(transparent)]
        pub struct $name(#[n(0)] pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// Names a resource for ever: it survives moves, and never returns after a
    /// removal. It is also the mount's inode number.
    ResourceId
}
id! {
    /// Names one state of a resource's bytes; copies and versions share it.
    ContentId
}
id! {
    /// Names a user or a group.
    PersonId
}
id! {
    /// Names a place for contents, or a group of them.
    PlaceId
}

impl PlaceId {
    /// The place that every store has: it is opened by the program, not from an address.
    pub const MAIN: Self = Self(20);
}

impl ResourceId {
    /// The collection at `/`.
    pub const ROOT: Self = Self(1);
    /// The parent of what has been removed, and is kept for a while or not yet swept. It has no record, so
    /// nothing below it is found.
    pub const REMOVED: Self = Self(2);
}

impl PersonId {
    /// The group that every user belongs to, anonymous ones included.
    pub const PUBLIC: Self = Self(10);
    /// The user without a password.
    pub const ANONYMOUS: Self = Self(11);
}

/// The first id of anything that is not built in.
pub(crate) const FIRST_FREE_ID: u64 = 1_000;
