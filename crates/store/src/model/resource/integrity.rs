//! What a collection requires of the links in descriptions.

use minicbor::{Decode, Encode};

/// What becomes of a statement that links to a path at which its writer sees nothing; set on a collection, for the descriptions of
/// itself and of all below it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum LinkIntegrity {
    /// It is kept as text.
    #[default]
    #[n(0)]
    None,
    /// It is kept as text, and becomes a link once the path exists.
    #[n(1)]
    Lenient,
    /// It is refused.
    #[n(2)]
    Strict,
}
