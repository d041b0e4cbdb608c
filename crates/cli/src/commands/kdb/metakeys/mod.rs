//! The metakeys of a key: reading, setting, listing and removing them.

pub(crate) mod args;
pub(crate) mod get;
pub(crate) mod ls;
pub(crate) mod rm;
pub(crate) mod set;
pub(crate) mod show;
