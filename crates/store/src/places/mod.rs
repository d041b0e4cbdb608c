//! Places: where contents are kept, by names that the catalog knows.
//!
//! Invariants: a group never contains itself; nothing is put into a place that is not up; a place
//! can be removed only when it is empty, in no group and not the default for new contents.

mod claims;
mod describe;
mod edit;
mod known;
mod status;

pub(crate) use claims::{Claim, Claims};
pub use edit::{NewPlace, PlaceChange};
pub(crate) use known::{Destination, KnownPlaces, Shared, Source, records};
pub use status::PlaceStatus;
pub(crate) use status::statuses;
