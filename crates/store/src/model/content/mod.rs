//! What objects hold, where it is, and how long it is kept.

mod body;
mod place;
mod placement;
mod replica;
mod versioning;

pub(crate) use body::check_media_type;
pub use body::{Content, ContentHead, Digests, Extent, Piece};
pub use place::{PlaceInfo, PlaceKind, PlaceState};
pub use placement::Placement;
pub use replica::{Replica, Replicas};
pub use versioning::{Retention, Versioning};
