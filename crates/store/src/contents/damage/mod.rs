//! Rot: searching for it, recording damaged copies, and mending them.

pub(crate) mod copies;
pub(crate) mod scrub;
pub(crate) mod scrub_rows;
