//! The tree: listing, creating, moving, copying and removing.

pub(crate) mod cp;
pub(crate) mod du;
pub(crate) mod ls;
pub(crate) mod mkdir;
pub(crate) mod mv;
pub(crate) mod relocate;
pub(crate) mod rm;
pub(crate) mod stat;
pub(crate) mod tree;
