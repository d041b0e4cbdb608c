//! Copies of contents in several places: which there are, making, moving and registering them.

pub(crate) mod record;
pub(crate) mod register;
pub(crate) mod replicate;
pub(crate) mod transfer;
pub(crate) mod view;
