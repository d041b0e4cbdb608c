//! Quotas: limits for the resources below a collection, or those that somebody owns.
//!
//! Invariants: a count is two counters with an id of its own (bytes, resources) to which commits add without reading; it is right
//! once its quota is no longer being counted. What counts is noted by those who write records ([`Tallies::count`]), and settled in
//! the same commit ([`settle`]). A limit is a bound of the commit, so that it is exact and no two writers below it conflict. A
//! removed tree counts for its former collections until it is removed for good. If there is no quota, nothing is read or written for one.

mod above;
mod count;
mod cross;
mod delta;
mod edit;
mod exceeded;
mod kept;
mod list;
mod owners;
mod recount;
mod room;
mod settle;

pub(crate) use above::{in_use, removed};
pub(crate) use cross::{Crossing, Mark, cross, erase, landed};
pub(crate) use delta::Delta;
pub use edit::{QuotaSetting, QuotaTarget};
pub use exceeded::Exceeded;
pub(crate) use kept::bytes_of_versions;
pub use list::Quota;
pub(crate) use list::seen_by;
pub(crate) use owners::{change_members, change_owner, erase_person};
pub(crate) use recount::{recount, unsettled};
pub(crate) use room::require_room;
pub(crate) use settle::{Tallies, settle};
