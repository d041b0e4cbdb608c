//! Resources and their contents: reading, writing, listing, moving, copying and removing them.

pub(crate) mod contents;
pub(crate) mod descriptions;
pub(crate) mod history;
pub(crate) mod resources;
