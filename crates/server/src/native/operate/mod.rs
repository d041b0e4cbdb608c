//! What an administrator operates: places and their jobs, checks, and the search for rot.

pub(crate) mod check;
pub(crate) mod places;
pub(crate) mod scrub;
