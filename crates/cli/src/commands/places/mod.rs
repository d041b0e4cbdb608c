//! Where contents are kept: places, replicas, and the jobs that move bytes.

pub(crate) mod job;
pub(crate) mod place;
pub(crate) mod register;
pub(crate) mod replicate;
pub(crate) mod trim;
