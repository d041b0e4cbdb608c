//! The layout of keys' records in a file, for reading metakeys from where they are stored and for copying records
//! unchanged.
//!
//! The sizes here are those of the records that writers produce: shortest lengths, one space between words.

use super::Format;
use super::dump::meta_lengths;
use super::input::{Input, SliceInput};
use super::quickdump::varint;

/// The format of a block's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Quickdump, version 3.
    Quickdump,
    /// Dump, version 2.
    Dump,
    /// One that is only read.
    Other,
}

/// A metakey as stored in the file.
pub(crate) struct StoredMeta<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) value: &'a [u8],
    /// Where the value starts.
    pub(crate) value_at: u64,
    /// Where the next one starts.
    pub(crate) next: u64,
}

impl Layout {
    /// The layout of this file's records.
    pub(crate) fn of(format: Format, bytes: &[u8]) -> Self {
        match format {
            Format::Quickdump if bytes.starts_with(b"EKDB\0\0\0\x03") => Self::Quickdump,
            Format::Dump if bytes.starts_with(b"kdbOpen 2\n") => Self::Dump,
            _ => Self::Other,
        }
    }

    /// Where the first metakey of a key starts, given the end of its value.
    pub(crate) fn metas_after(self, value_end: u64) -> u64 {
        if self == Self::Dump { value_end + 1 } else { value_end }
    }

    /// Reads the metakey at an offset.
    #[inline]
    pub(crate) fn meta(self, bytes: &[u8], at: u64) -> Option<StoredMeta<'_>> {
        let mut input = SliceInput::new(bytes.get(at as usize..)?);
        let (name, value, value_end) = match self {
            Self::Quickdump => {
                input.byte().ok()??;
                let (name, value) = (counted(&mut input)?, counted(&mut input)?);
                (name, value, input.offset())
            }
            Self::Dump => {
                let (name, value) = meta_lengths(input.line().ok()??)?;
                let name = line(&mut input, name)?;
                let value = input.up_to(value).ok()?;
                let end = input.offset();
                input.byte().ok()?;
                (name, value, end)
            }
            Self::Other => return None,
        };
        let value_at = at + value_end - value.len() as u64;
        Some(StoredMeta { name, value, value_at, next: at + input.offset() })
    }

    /// Whether the bytes before a name, which have the right length, are exactly as a writer writes them: in a dump,
    /// words may be separated by other blanks, and letters may take the place of the last length.
    #[inline]
    pub(crate) fn is_command(self, before_name: &[u8], last_length: u32) -> bool {
        let Some((_, line)) = before_name.split_last().filter(|_| self == Self::Dump) else {
            return true;
        };
        let before_last = line.len().checked_sub(digits(last_length) as usize + 1);
        before_last.is_some_and(|at| line[at] == b' ')
            && line.ends_with(&[b'0' + (last_length % 10) as u8])
            && line.iter().all(|byte| *byte >= b' ')
    }

    /// The number of bytes in a record before a key's name.
    pub(crate) fn before_name(self, binary: bool, name: u32, value: u32) -> u64 {
        match self {
            Self::Quickdump => varint::width(name.into()),
            Self::Dump => {
                let command = if binary { "$key binary " } else { "$key string " };
                command.len() as u64 + digits(name) + digits(value) + 2
            }
            Self::Other => 0,
        }
    }

    /// The number of bytes between a key's name and value.
    pub(crate) fn before_value(self, value: u32) -> u64 {
        if self == Self::Dump { 1 } else { 1 + varint::width(value.into()) }
    }

    /// The number of bytes in a record before a metakey's name.
    pub(crate) fn before_meta_name(self, name: u32, value: u32) -> u64 {
        match self {
            Self::Dump => "$meta ".len() as u64 + digits(name) + digits(value) + 2,
            _ => 1 + varint::width(name.into()),
        }
    }

    /// The number of bytes between a metakey's name and value.
    pub(crate) fn before_meta_value(self, value: u32) -> u64 {
        if self == Self::Dump { 1 } else { varint::width(value.into()) }
    }

    /// The number of bytes after each metakey.
    pub(crate) fn after_meta(self) -> u64 {
        u64::from(self == Self::Dump)
    }

    /// The number of bytes after a key's last metakey.
    pub(crate) fn after_key(self) -> u64 {
        u64::from(self == Self::Quickdump)
    }

    /// Where the first record of a file starts.
    pub(crate) fn first_record(self) -> u64 {
        if self == Self::Dump { "kdbOpen 2\n".len() as u64 } else { 8 }
    }
}

fn counted<'a>(input: &mut SliceInput<'a>) -> Option<&'a [u8]> {
    let first = input.byte().ok()??;
    let len = varint::read_from(first, input).ok()?.value;
    input.exactly(len).ok()
}

/// Takes `len` bytes and the following LF.
fn line<'a>(input: &mut SliceInput<'a>, len: u64) -> Option<&'a [u8]> {
    let bytes = input.up_to(len).ok()?;
    input.byte().ok()?;
    Some(bytes)
}

/// The number of decimal digits.
fn digits(number: u32) -> u64 {
    u64::from(number.checked_ilog10().unwrap_or(0)) + 1
}
