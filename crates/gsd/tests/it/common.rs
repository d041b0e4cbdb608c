//! Fixtures written by the reference library, and the operation lists that wrote them.

use std::path::PathBuf;

use cenote_gsd::{Chunk, ChunkType, Reader, Result, Source, Storage, Version, Writer};
use serde_json::Value;

pub(crate) fn fixture_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(fixture_dir().join("files").join(name)).expect(name)
}

pub(crate) fn json(name: &str) -> Value {
    let text = std::fs::read_to_string(fixture_dir().join(name)).expect(name);
    serde_json::from_str(&text.replace("\"magic\":0x65DF65DF65DF65DF,", "")).expect(name)
}

pub(crate) fn fixture_names() -> Vec<String> {
    let entries = std::fs::read_dir(fixture_dir().join("files")).expect("the fixtures");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .filter(|name| name.ends_with(".gsd"))
        .collect();
    names.sort();
    names
}

pub(crate) fn kind_named(name: &str) -> ChunkType {
    let name = if name == "char" { "str" } else { name };
    ChunkType::ALL.into_iter().find(|kind| kind.name() == name).expect(name)
}

/// `((arange * k + off) % 120).astype(kind)`, little-endian.
pub(crate) fn pattern(kind: ChunkType, count: u64, k: u64, off: u64) -> Vec<u8> {
    (0..count).flat_map(|i| element(kind, (i * k + off) % 120)).collect()
}

fn element(kind: ChunkType, value: u64) -> Vec<u8> {
    match kind {
        ChunkType::F32 => (value as f32).to_le_bytes().to_vec(),
        ChunkType::F64 => (value as f64).to_le_bytes().to_vec(),
        _ => value.to_le_bytes()[..kind.size() as usize].to_vec(),
    }
}

pub(crate) fn create(case: &str) -> Writer<Vec<u8>> {
    Writer::create_in(Vec::new(), &format!("golden-{case}"), "golden", Version::new(3, 7))
        .expect("memory")
}

/// Performs one operation of `ops.json`.
pub(crate) fn apply(mut writer: Writer<Vec<u8>>, op: &Value) -> Writer<Vec<u8>> {
    match op[0].as_str().expect("an operation") {
        "w" => write_pattern(&mut writer, op),
        "str" => write_text(&mut writer, op),
        "e" => writer.end_frame().expect("end"),
        "f" => writer.flush().expect("flush"),
        "buf" => writer.set_buffer_limit(op[1].as_u64().expect("size")).expect("limit"),
        "trunc" => writer.truncate().expect("truncate"),
        "reopen" => return Writer::open_in(writer.close().expect("close")).expect("open"),
        other => panic!("unknown operation {other}"),
    }
    writer
}

fn write_pattern(writer: &mut Writer<Vec<u8>>, op: &Value) {
    let number = |value: &Value| value.as_u64().expect("a number");
    let rows = number(&op[3][0]);
    let columns = op[3].get(1).map_or(1, number);
    let kind = kind_named(op[2].as_str().expect("a type"));
    let data = pattern(kind, rows * columns, number(&op[4]), number(&op[5]));
    let name = op[1].as_str().expect("a name");
    write(writer, name, kind, (rows, columns as u32), &data).expect(name);
}

fn write_text(writer: &mut Writer<Vec<u8>>, op: &Value) {
    let (name, text) = (op[1].as_str().expect("a name"), op[2].as_str().expect("a text"));
    let shape = (text.len() as u64, 1);
    write(writer, name, ChunkType::Character, shape, text.as_bytes()).expect(name);
}

pub(crate) fn write<F: Storage>(
    writer: &mut Writer<F>,
    name: &str,
    kind: ChunkType,
    (rows, columns): (u64, u32),
    data: &[u8],
) -> Result<()> {
    writer.write_chunk(&Chunk { name: name.as_bytes(), kind, rows, columns, data })
}

/// Everything a reader can see: frame, name, shape, type and bytes of each chunk.
pub(crate) fn contents<S: Source>(reader: &Reader<S>) -> Result<Vec<SeenChunk>> {
    reader
        .entries()
        .map(|entry| {
            let entry = entry?;
            Ok(SeenChunk {
                frame: entry.frame(),
                name: reader.names().get(entry.name_id()).expect("checked").to_vec(),
                kind: entry.chunk_type(),
                shape: (entry.rows(), entry.columns()),
                data: reader.read_vec(&entry)?,
            })
        })
        .collect()
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SeenChunk {
    pub(crate) frame: u64,
    pub(crate) name: Vec<u8>,
    pub(crate) kind: ChunkType,
    pub(crate) shape: (u64, u32),
    pub(crate) data: Vec<u8>,
}
