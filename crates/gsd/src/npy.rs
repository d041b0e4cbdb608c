//! Exports a chunk as a file that `numpy.load` reads: NumPy's format, version 1.0.
//!
//! Magic, version, the length of the header, the header in Python syntax padded with spaces to a multiple of 64
//! bytes, then the bytes of the elements as in the GSD file.

use crate::chunk_type::ChunkType;
use crate::entry::Entry;

const ALIGNMENT: usize = 64;
const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";

impl Entry {
    /// The header of a `.npy` file with `rows` rows of this chunk.
    ///
    /// A one-column chunk has one dimension; a string is one element.
    #[must_use]
    pub fn npy_header(&self, rows: u64) -> Vec<u8> {
        let header = format!(
            "{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
            self.npy_type(rows),
            self.npy_shape(rows)
        );
        let length = (MAGIC.len() + 2 + header.len() + 1).next_multiple_of(ALIGNMENT);
        let mut bytes = MAGIC.to_vec();
        // Type and shape are a few dozen characters long, so this is far below 65,536.
        bytes.extend_from_slice(&((length - MAGIC.len() - 2) as u16).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.resize(length - 1, b' ');
        bytes.push(b'\n');
        bytes
    }

    /// Whether the chunk is a string.
    #[must_use]
    pub fn is_string(&self) -> bool {
        self.kind == ChunkType::Character && self.columns == 1
    }

    fn npy_type(&self, rows: u64) -> String {
        let letter = match self.kind {
            ChunkType::Character if self.columns == 1 => return format!("|S{rows}"),
            ChunkType::U8 | ChunkType::U16 | ChunkType::U32 | ChunkType::U64 => 'u',
            ChunkType::F32 | ChunkType::F64 => 'f',
            _ => 'i',
        };
        let size = self.kind.size();
        format!("{}{letter}{size}", if size == 1 { '|' } else { '<' })
    }

    fn npy_shape(&self, rows: u64) -> String {
        match self.columns {
            _ if self.is_string() => "()".to_owned(),
            1 => format!("({rows},)"),
            columns => format!("({rows}, {columns})"),
        }
    }
}
