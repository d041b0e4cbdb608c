//! Collections, and what is common to them and to data objects: listing, stat, metadata, permissions, removal.

pub(crate) mod collections;
pub(crate) mod listing;
pub(crate) mod metadata;
pub(crate) mod permissions;
pub(crate) mod stat;
pub(crate) mod trash;
