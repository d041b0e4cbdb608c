//! The rows that queries are about, and how they are found.
//!
//! Invariant: [`source::Source`] yields all rows that the caller may see and that can meet the conditions,
//! whichever access path it takes; entities that are not resources of the store (users, zones, rules) are in
//! `others`.

mod access;
mod collection_path;
mod names;
mod others;
mod parents;
mod quota;
mod removed;
pub(super) mod row;
pub(super) mod source;
mod ticket;
mod token;
pub(super) mod zone;

pub(super) use names::Names;
pub use zone::{DelayedRule, RemoteZone, Resource, Zone};
