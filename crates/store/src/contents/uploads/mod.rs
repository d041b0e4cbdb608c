//! Uploads in parts: created, filled in any order, completed by one publication.

pub(crate) mod complete;
pub(crate) mod gather;
pub(crate) mod parts;
pub(crate) mod upload;
