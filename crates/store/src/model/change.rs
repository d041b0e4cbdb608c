//! What happened, according to the change feed.

use minicbor::{Decode, Encode};

/// What happened to a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum ChangeKind {
    /// It was created.
    #[n(0)]
    Created,
    /// Its content changed.
    #[n(1)]
    Written,
    /// Its description or attributes changed.
    #[n(2)]
    Described,
    /// Its access list changed.
    #[n(3)]
    Granted,
    /// Its name or collection changed.
    #[n(4)]
    Moved,
    /// It was removed, with everything below it.
    #[n(5)]
    Removed,
}
