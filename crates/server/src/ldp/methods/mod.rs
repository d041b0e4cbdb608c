//! The methods, a file each, and what several of them do.

pub(crate) mod delete;
mod described;
pub(crate) mod intake;
pub(crate) mod options;
pub(crate) mod patch;
pub(crate) mod post;
pub(crate) mod put;
pub(crate) mod read;
pub(crate) mod subtree;
pub(crate) mod tombstone;
