//! Writing in place: patches over extents, and folding them.

pub(crate) mod compact;
pub(crate) mod extents;
pub(crate) mod runs;
pub(crate) mod write_at;
