//! One element of a chunk as a number.

use std::fmt;

use crate::chunk_type::ChunkType;

/// The value of one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Of an unsigned type.
    Unsigned(u64),
    /// Of a signed type, or the byte of a character.
    Signed(i64),
    /// Of the 32-bit floating point type.
    Single(f32),
    /// Of the 64-bit floating point type.
    Double(f64),
}

impl ChunkType {
    /// The numbers in the data of a chunk of this type; an incomplete last element is ignored.
    pub fn numbers(self, data: &[u8]) -> impl ExactSizeIterator<Item = Number> {
        data.chunks_exact(self.size() as usize).map(move |element| decode(self, element))
    }
}

fn decode(kind: ChunkType, element: &[u8]) -> Number {
    let mut wide = [0; 8];
    wide[..element.len()].copy_from_slice(element);
    let unsigned = u64::from_le_bytes(wide);
    let unused = 64 - 8 * element.len();
    match kind {
        ChunkType::F32 => Number::Single(f32::from_bits(unsigned as u32)),
        ChunkType::F64 => Number::Double(f64::from_bits(unsigned)),
        ChunkType::U8 | ChunkType::U16 | ChunkType::U32 | ChunkType::U64 => {
            Number::Unsigned(unsigned)
        }
        ChunkType::I8 | ChunkType::I16 | ChunkType::I32 | ChunkType::I64 | ChunkType::Character => {
            Number::Signed((unsigned << unused) as i64 >> unused)
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(number) => number.fmt(f),
            Self::Signed(number) => number.fmt(f),
            Self::Single(number) => number.fmt(f),
            Self::Double(number) => number.fmt(f),
        }
    }
}
