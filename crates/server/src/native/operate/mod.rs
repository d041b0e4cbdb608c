//! What an administrator operates: places and their jobs, quotas, checks, and the search for rot.

pub(crate) mod check;
pub(crate) mod places;
pub(crate) mod quotas;
pub(crate) mod scrub;
