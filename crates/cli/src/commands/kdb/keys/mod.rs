//! Keys: reading, setting, listing, moving and removing them.

pub(crate) mod cp;
pub(crate) mod find;
pub(crate) mod get;
pub(crate) mod ls;
pub(crate) mod mv;
pub(crate) mod rm;
pub(crate) mod set;
pub(crate) mod sget;
pub(crate) mod show;
