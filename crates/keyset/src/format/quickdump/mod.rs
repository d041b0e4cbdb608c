//! The format `quickdump`: length-prefixed names and values in binary. Written as version 3, read as 1 to 3.

mod reader;
pub(crate) mod varint;
mod writer;

pub(crate) use reader::parse;
pub use writer::Writer;

/// What a file of any version starts with; the version follows as four bytes.
const MAGIC: &[u8] = b"EKDB";
