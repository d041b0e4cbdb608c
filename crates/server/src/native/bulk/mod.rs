//! Many resources in one request, as tar streams in both directions.

pub(crate) mod archive;
pub(crate) mod archive_entry;
pub(crate) mod batch;
pub(crate) mod batch_entry;
pub(crate) mod batch_header;
