//! Bytes: reading, writing and mirroring them.

pub(crate) mod cat;
pub(crate) mod get;
pub(crate) mod put;
pub(crate) mod sync;
