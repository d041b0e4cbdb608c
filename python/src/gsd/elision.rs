//! Whether a value equals that of frame 0 or the default, so that it need not be written.
//!
//! The comparison is NumPy's (`0.0` equals `-0.0`, NaN equals nothing), and stops at the first
//! block that differs, so for a moving trajectory it ends almost at once.

use std::sync::OnceLock;

use cenote_gsd::{ChunkType, Entry, Reader, Source};

use super::schema::{Default, FIELDS, Shape};

/// Bytes compared at a time; a multiple of every row of the schema.
const BLOCK: usize = 12 * 1024;

/// Whether two runs of elements of one type are equal.
pub(crate) fn equal(kind: ChunkType, a: &[u8], b: &[u8]) -> bool {
    let same = |a: &[u8], b: &[u8]| match kind {
        ChunkType::F32 => all_equal(a, b, f32::from_le_bytes),
        ChunkType::F64 => all_equal(a, b, f64::from_le_bytes),
        _ => a == b,
    };
    a.len() == b.len() && a.chunks(BLOCK).zip(b.chunks(BLOCK)).all(|(a, b)| same(a, b))
}

fn all_equal<const N: usize, T: PartialEq>(a: &[u8], b: &[u8], number: fn([u8; N]) -> T) -> bool {
    let (a, _) = a.as_chunks::<N>();
    let (b, _) = b.as_chunks::<N>();
    // No early exit within a block, so that the loop is vectorised.
    a.iter().zip(b).fold(true, |same, (a, b)| same & (number(*a) == number(*b)))
}

/// Whether a chunk in the file is equal to `bytes`, of which it has the type and shape.
pub(crate) fn equal_in_file<S: Source>(
    reader: &Reader<S>,
    entry: &Entry,
    bytes: &[u8],
) -> cenote_gsd::Result<bool> {
    if entry.byte_size() != bytes.len() as u64 {
        return Ok(false);
    }
    let row = entry.row_size().max(1);
    let rows = (1 << 16_u64).clamp(row, row.max(bytes.len() as u64)) / row;
    let mut block = vec![0; (rows * row) as usize];
    for (number, expected) in (0..).zip(bytes.chunks(block.len())) {
        let found = &mut block[..expected.len()];
        let start: u64 = number * rows;
        reader.read_rows(entry, start..start + expected.len() as u64 / row, found)?;
        if !equal(entry.chunk_type(), found, expected) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether every row is the default of a field.
pub(crate) fn is_default(field: usize, kind: ChunkType, bytes: &[u8]) -> bool {
    let pattern = pattern(field, kind);
    bytes.chunks(BLOCK).all(|block| equal(kind, block, &pattern[..block.len()]))
}

/// The default of a field, repeated to fill a block.
fn pattern(field: usize, kind: ChunkType) -> &'static [u8] {
    static PATTERNS: [[OnceLock<Vec<u8>>; 2]; FIELDS.len()] =
        [const { [const { OnceLock::new() }; 2] }; FIELDS.len()];
    let double = usize::from(kind == ChunkType::F64);
    PATTERNS[field][double].get_or_init(|| {
        let row = default_value(field, kind);
        row.iter().copied().cycle().take(BLOCK).collect()
    })
}

/// The bytes of the default of a field: of one row, where there is a row for each thing.
pub(crate) fn default_value(field: usize, kind: ChunkType) -> Vec<u8> {
    let elements = match FIELDS[field].shape {
        Shape::Rows(columns) => columns,
        Shape::Box => 6,
        _ => 1,
    };
    let value = |i: usize| match FIELDS[field].default {
        Default::Integer(value) => element(kind, value as f64),
        Default::Float(values) => element(kind, values[i]),
        Default::Text(_) => Vec::new(),
    };
    match FIELDS[field].default {
        Default::Text(text) => text.to_vec(),
        _ => (0..elements).flat_map(value).collect(),
    }
}

fn element(kind: ChunkType, value: f64) -> Vec<u8> {
    match kind {
        ChunkType::F32 => (value as f32).to_le_bytes().to_vec(),
        ChunkType::F64 => value.to_le_bytes().to_vec(),
        _ => (value as i64).to_le_bytes()[..kind.size() as usize].to_vec(),
    }
}
