//! Administration: places and their jobs, quotas, checks, backups, the scrub, and the format of the store.

pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod places;
pub(crate) mod quotas;
pub(crate) mod scrub;
pub(crate) mod upgrade;
