//! Corruption: searching for it, recording damaged copies, and repairing them.

pub(crate) mod copies;
pub(crate) mod scrub;
pub(crate) mod scrub_rows;
