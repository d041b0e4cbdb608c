//! Collections, and what they share with data objects: listing, stat, metadata, permissions, removal.

pub(crate) mod collections;
pub(crate) mod listing;
pub(crate) mod metadata;
pub(crate) mod permissions;
pub(crate) mod remove;
pub(crate) mod stat;
pub(crate) mod trash;
