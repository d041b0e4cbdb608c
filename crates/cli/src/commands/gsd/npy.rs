//! NumPy's array file, version 1.0: magic, a header in Python's syntax padded to 64 bytes, data.

use cenote_gsd::{ChunkType, Entry};

const ALIGNMENT: usize = 64;

/// Some rows of a chunk as a file that `numpy.load` reads.
pub(super) fn file(entry: &Entry, rows: u64, data: &[u8]) -> Vec<u8> {
    let header = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
        descriptor(entry, data.len()),
        shape(entry, rows)
    );
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let length = (bytes.len() + 2 + header.len() + 1).next_multiple_of(ALIGNMENT) - bytes.len() - 2;
    // A shape is a few dozen characters long, so this is far below 65,536.
    bytes.extend_from_slice(&(length as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.resize(bytes.len() + length - header.len() - 1, b' ');
    bytes.push(b'\n');
    bytes.extend_from_slice(data);
    bytes
}

fn is_text(entry: &Entry) -> bool {
    entry.chunk_type() == ChunkType::Character && entry.columns() == 1
}

fn descriptor(entry: &Entry, size: usize) -> String {
    if is_text(entry) {
        return format!("|S{size}");
    }
    let letter = match entry.chunk_type() {
        ChunkType::U8 | ChunkType::U16 | ChunkType::U32 | ChunkType::U64 => 'u',
        ChunkType::F32 | ChunkType::F64 => 'f',
        _ => 'i',
    };
    let size = entry.chunk_type().size();
    format!("{}{letter}{size}", if size == 1 { '|' } else { '<' })
}

fn shape(entry: &Entry, rows: u64) -> String {
    match entry.columns() {
        _ if is_text(entry) => "()".to_owned(),
        1 => format!("({rows},)"),
        columns => format!("({rows}, {columns})"),
    }
}
