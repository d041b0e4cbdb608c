//! Administration: places and their jobs, quotas, checks, backups, and the scrub.

pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod places;
pub(crate) mod quotas;
pub(crate) mod scrub;
