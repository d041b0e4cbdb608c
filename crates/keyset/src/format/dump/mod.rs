//! The format `dump`: lines of text with length-prefixed names and values. Written as version 2, read as 1 and 2.

mod line;
mod reader;
mod version1;
mod writer;

pub(crate) use reader::parse;
pub use writer::Writer;

/// The two lengths of a `$meta` line that was read before.
#[inline]
pub(crate) fn meta_lengths(line: &[u8]) -> Option<(u64, u64)> {
    line::lengths(line::split_word(line).1)
}

/// The first line of version 2.
const HEADER: &[u8] = b"kdbOpen 2";
