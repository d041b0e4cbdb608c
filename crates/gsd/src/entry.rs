//! One entry of the index: the location and shape of a chunk.
//!
//! | offset | type | field |
//! |---|---|---|
//! | 0 | u64 | frame |
//! | 8 | u64 | N, rows |
//! | 16 | i64 | offset of the data; 0 marks the end of the index |
//! | 24 | u32 | M, columns |
//! | 28 | u16 | ordinal of the name in the name list |
//! | 30 | u8 | type |
//! | 31 | u8 | flags, 0 |

use crate::chunk_type::ChunkType;
use crate::header::{array, word32, word64};

/// Bytes of one index entry.
pub const ENTRY_SIZE: usize = 32;

/// An index entry as read from the file, not validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawEntry {
    pub(crate) frame: u64,
    pub(crate) rows: u64,
    pub(crate) location: u64,
    pub(crate) columns: u32,
    pub(crate) id: u16,
    pub(crate) kind: u8,
    pub(crate) flags: u8,
}

impl RawEntry {
    pub(crate) fn decode(bytes: &[u8]) -> Self {
        Self {
            frame: word64(bytes, 0),
            rows: word64(bytes, 8),
            location: word64(bytes, 16),
            columns: word32(bytes, 24),
            id: u16::from_le_bytes(array(&bytes[28..])),
            kind: bytes[30],
            flags: bytes[31],
        }
    }

    pub(crate) fn encode(&self) -> [u8; ENTRY_SIZE] {
        let mut bytes = [0; ENTRY_SIZE];
        bytes[0..8].copy_from_slice(&self.frame.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.rows.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.location.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.columns.to_le_bytes());
        bytes[28..30].copy_from_slice(&self.id.to_le_bytes());
        bytes[30] = self.kind;
        bytes[31] = self.flags;
        bytes
    }

    /// The order of the index in a version 2 file.
    pub(crate) fn key(&self) -> (u64, u16) {
        (self.frame, self.id)
    }

    /// The chunk described by this entry, or what is invalid about it.
    ///
    /// The rules are those of the reference, with arithmetic that cannot wrap.
    pub(crate) fn check(&self, limits: &Limits) -> Result<Entry, String> {
        let kind = ChunkType::from_number(self.kind)
            .ok_or_else(|| format!("unknown element type {}", self.kind))?;
        let size = byte_size(self.rows, self.columns, kind)
            .filter(|size| self.location.checked_add(*size).is_some_and(|end| end <= limits.file))
            .ok_or_else(|| self.beyond_end(kind, limits))?;
        if self.frame >= limits.frames {
            return Err(format!("frame {} in an index of {}", self.frame, limits.frames));
        }
        if u64::from(self.id) >= limits.names {
            return Err(format!("name {} of {}", self.id, limits.names));
        }
        if self.flags != 0 {
            return Err(format!("flags {:#04x}, which must be 0", self.flags));
        }
        Ok(Entry {
            frame: self.frame,
            rows: self.rows,
            columns: self.columns,
            location: self.location,
            id: self.id,
            kind,
            size,
        })
    }

    fn beyond_end(&self, kind: ChunkType, limits: &Limits) -> String {
        format!(
            "data of {} x {} {kind} at byte {} ends after the file's {} bytes",
            self.rows, self.columns, self.location, limits.file
        )
    }
}

/// Upper bounds that the file sets on its entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Size of the file in bytes.
    pub(crate) file: u64,
    /// Frame numbers must be below this: the entries the index block has room for.
    pub(crate) frames: u64,
    /// Number of names in the list.
    pub(crate) names: u64,
}

/// One chunk: `rows` x `columns` elements of one type, row by row, somewhere in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub(crate) frame: u64,
    pub(crate) rows: u64,
    pub(crate) columns: u32,
    pub(crate) location: u64,
    pub(crate) id: u16,
    pub(crate) kind: ChunkType,
    size: u64,
}

impl Entry {
    /// The frame it belongs to.
    #[must_use]
    pub fn frame(&self) -> u64 {
        self.frame
    }

    /// Rows (N).
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Columns (M).
    #[must_use]
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// The type of its elements.
    #[must_use]
    pub fn chunk_type(&self) -> ChunkType {
        self.kind
    }

    /// Ordinal of its name in the name list.
    #[must_use]
    pub fn name_id(&self) -> u16 {
        self.id
    }

    /// Offset of its data in the file, in bytes.
    #[must_use]
    pub fn location(&self) -> u64 {
        self.location
    }

    /// Bytes of its data.
    #[must_use]
    pub fn byte_size(&self) -> u64 {
        self.size
    }

    /// Bytes per row.
    #[must_use]
    pub fn row_size(&self) -> u64 {
        u64::from(self.columns) * self.kind.size()
    }
}

/// Bytes of `rows` x `columns` elements, unless that overflows.
pub(crate) fn byte_size(rows: u64, columns: u32, kind: ChunkType) -> Option<u64> {
    rows.checked_mul(u64::from(columns))?.checked_mul(kind.size())
}
