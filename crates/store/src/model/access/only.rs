//! Lines of an access list that are about some of the resources in their scope (Web Access Control: `acl:accessToClass`, and
//! `acl:accessTo` of a resource below).

use minicbor::{Decode, Encode};

use crate::model::ResourceId;

/// Which of the resources in its scope a line is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub enum Only {
    /// Those that are described to have this class now: as IRI or text the object of `rdf:type` in a statement about the
    /// resource itself.
    #[n(0)]
    Class(#[n(0)] String),
    /// This one, not what is below it. Without effect while it is elsewhere, or removed.
    #[n(1)]
    Resource(#[n(0)] ResourceId),
}
