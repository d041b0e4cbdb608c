//! Operating a store: places, quotas, checks, backups.

mod backup;
mod check;
mod place;
mod quota;
mod scrub;
mod upgrade;
mod usage;

pub(in crate::native) use backup::*;
pub(in crate::native) use check::*;
pub(in crate::native) use place::*;
pub(in crate::native) use quota::*;
pub(in crate::native) use scrub::*;
pub(in crate::native) use upgrade::*;
pub(in crate::native) use usage::*;
