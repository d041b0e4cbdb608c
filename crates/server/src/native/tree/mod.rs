//! Resources and their names: creating, listing, moving, copying and removing them.

pub(crate) mod attributes;
pub(crate) mod create;
pub(crate) mod list;
mod pages;
pub(crate) mod relocate;
pub(crate) mod remove;
pub(crate) mod shared;
pub(crate) mod stat;
pub(crate) mod trash;
pub(crate) mod usage;
pub(crate) mod walk;
