//! The format `dump`: lines of text with counted names and values. Written as
//! version 2, read as 1 and 2.

mod reader;
mod version1;
mod writer;

pub(crate) use reader::{command_lengths, parse};
pub use writer::Writer;

/// The first line of version 2.
const HEADER: &[u8] = b"kdbOpen 2";
