//! Resources and their contents: reading, writing, listing, moving, copying and removing them.

pub(crate) mod cat;
pub(crate) mod changeset;
pub(crate) mod cp;
pub(crate) mod du;
pub(crate) mod find;
pub(crate) mod get;
pub(crate) mod ls;
pub(crate) mod meta;
pub(crate) mod mkdir;
pub(crate) mod mv;
mod past;
pub(crate) mod put;
pub(crate) mod relocate;
pub(crate) mod restore;
pub(crate) mod rm;
pub(crate) mod stat;
pub(crate) mod sync;
pub(crate) mod trash;
pub(crate) mod tree;
pub(crate) mod versions;
