//! Files of the reference library are read and written with the same results as by it.

use crate::common::{apply, contents, create, fixture, fixture_names, json, pattern, write};
use cenote_gsd::{ChunkType, Entry, Number, Reader, Version, Writer};
use serde_json::{Value, json};

#[test]
fn operation_lists_produce_the_bytes_of_the_reference() {
    let ops = json("ops.json");
    for (case, list) in ops.as_object().expect("cases") {
        let list = list.as_array().expect("operations");
        let writer = list.iter().fold(create(case), apply);
        let bytes = writer.close().expect(case);
        assert!(bytes == fixture(&format!("g5_{case}.gsd")), "{case}: other bytes");
    }
}

#[test]
fn upgraded_files_have_the_bytes_of_the_reference() {
    for name in fixture_names().iter().filter(|name| name.starts_with("g5up_")) {
        let old = fixture(&name.replace("g5up_", "g1_"));
        let mut writer = Writer::open_in(old).expect(name);
        writer.upgrade().expect(name);
        assert!(writer.close().expect(name) == fixture(name), "{name}: other bytes");
    }
}

#[test]
fn appending_to_old_files_gives_the_bytes_of_the_reference() {
    for (old, new) in [("g1_one", "g5app_g1_one"), ("g1_names120", "g5app_g1_names120")] {
        let mut writer = Writer::open_in(fixture(&format!("{old}.gsd"))).expect(old);
        for i in 0..3 {
            let data = pattern(ChunkType::I16, 4, 1, i);
            for chunk in ["zz", "a", &format!("new/{i}")] {
                write(&mut writer, chunk, ChunkType::I16, (4, 1), &data).expect(chunk);
            }
            writer.end_frame().expect("end");
        }
        let bytes = writer.close().expect(new);
        assert!(bytes == fixture(&format!("{new}.gsd")), "{new}: other bytes");
    }
}

#[test]
fn fixtures_are_read_as_documented() {
    for name in fixture_names() {
        let expected = json(&format!("files/{name}.json"));
        let reader = Reader::open(fixture(&name)).expect(&name);
        assert_eq!(reader.chunks(), expected["n_index"], "{name}");
        assert_eq!(reader.frames(), expected["nframes"], "{name}");
        assert_eq!(described_header(&reader), expected["header"], "{name}");
        let names: Vec<_> =
            reader.names().iter().map(|name| String::from_utf8_lossy(name)).collect();
        assert_eq!(json!(names), expected["names"], "{name}");
        let rows = expected["chunks"].as_array().expect("rows");
        for (entry, row) in reader.entries().zip(rows) {
            assert_chunk(&reader, entry.expect(&name), row, &name);
        }
    }
}

fn described_header(reader: &Reader<Vec<u8>>) -> Value {
    let header = reader.header();
    let version = |version: Version| json!([version.major, version.minor]);
    json!({
        "magic": "0x65DF65DF65DF65DF",
        "index_location": header.index_block().0,
        "index_allocated_entries": header.index_block().1,
        "namelist_location": header.name_block().0,
        "namelist_allocated_entries": header.name_block().1,
        "schema_version": version(header.schema_version()),
        "gsd_version": version(header.gsd_version()),
        "application": String::from_utf8_lossy(header.application()),
        "schema": String::from_utf8_lossy(header.schema()),
    })
}

/// `row` is `[frame, id, N, M, type, location, sha16, values]`.
fn assert_chunk(reader: &Reader<Vec<u8>>, entry: Entry, row: &Value, file: &str) {
    let kind =
        if entry.chunk_type() == ChunkType::Character { "char" } else { entry.chunk_type().name() };
    let seen = json!([
        entry.frame(),
        entry.name_id(),
        entry.rows(),
        entry.columns(),
        kind,
        entry.location()
    ]);
    assert_eq!(seen.as_array().expect("built so"), &row.as_array().expect("a row")[..6], "{file}");
    let name = reader.names().get(entry.name_id()).expect(file);
    assert_eq!(reader.find(entry.frame(), name).expect(file), Some(entry), "{file} {row}");
    let data = reader.read_vec(&entry).expect(file);
    match &row[7] {
        Value::String(text) => assert_eq!(data, text.as_bytes(), "{file} {row}"),
        Value::Array(values) => assert_values(&data, entry.chunk_type(), values, file),
        _ => {}
    }
}

fn assert_values(data: &[u8], kind: ChunkType, values: &[Value], file: &str) {
    let seen: Vec<f64> = kind
        .numbers(data)
        .map(|number| match number {
            Number::Unsigned(number) => number as f64,
            Number::Signed(number) => number as f64,
            Number::Single(number) => number.into(),
            Number::Double(number) => number,
        })
        .collect();
    let expected: Vec<f64> = values.iter().filter_map(Value::as_f64).collect();
    if expected.len() == values.len() {
        assert_eq!(seen, expected, "{file}");
    }
}

#[test]
fn a_frame_is_found_in_any_order() {
    let reader = Reader::open(fixture("g5_frames150.gsd")).expect("open");
    let all = reader.entries().collect::<Result<Vec<_>, _>>().expect("entries");
    for frame in [0, 1, 2, 149, 3, 10, 11, 0, 75] {
        let seen = reader.frame(frame).expect("frame");
        let expected: Vec<_> = all.iter().filter(|entry| entry.frame() == frame).copied().collect();
        assert_eq!(seen, expected, "frame {frame}");
    }
    assert!(reader.frame(150).expect("no error").is_empty());
}

#[test]
fn frames_of_any_number_of_chunks_are_found() {
    let mut writer = create("uneven");
    let chunks = |frame: u64| [0, 1, 7, 0, 0, 40, 2][frame as usize % 7] + frame / 100;
    for frame in 0..500 {
        for i in 0..chunks(frame) {
            write(&mut writer, &i.to_string(), ChunkType::U8, (0, 1), &[]).expect("write");
        }
        writer.end_frame().expect("end");
    }
    let reader = Reader::open(writer.close().expect("close")).expect("open");
    for frame in (0..500).chain((0..500).rev()).chain((0..500).map(|i| i * 61 % 500)) {
        let found = reader.frame(frame).expect("frame");
        assert_eq!(found.len() as u64, chunks(frame), "frame {frame}");
        assert!(found.iter().all(|entry| entry.frame() == frame), "frame {frame}");
    }
}

#[test]
fn a_version_1_name_is_known_by_its_first_63_bytes() {
    let mut writer = Writer::open_in(fixture("g1_one.gsd")).expect("open");
    let long = "n".repeat(200);
    for _ in 0..3 {
        write(&mut writer, &long, ChunkType::U8, (1, 1), &[7]).expect("write");
        writer.end_frame().expect("end");
    }
    let reader = Reader::open(writer.close().expect("close")).expect("open");
    assert_eq!(reader.names().len(), 2);
    assert!(reader.find(3, long.as_bytes()).expect("find").is_some());
}

#[test]
fn of_several_chunks_with_one_name_the_same_one_is_found_as_in_the_reference() {
    let mut writer = create("twice");
    for value in 0..4 {
        write(&mut writer, "a", ChunkType::U8, (1, 1), &[value]).expect("write");
    }
    writer.end_frame().expect("end");
    let reader = Reader::open(writer.close().expect("close")).expect("open");
    let found = reader.find(0, b"a").expect("find").expect("there");
    assert_eq!(reader.read_vec(&found).expect("read"), [2]);
    assert_eq!(contents(&reader).expect("read").len(), 4);
}

#[test]
fn frame_numbers_beyond_the_index_do_not_corrupt_the_file() {
    let mut writer = create("sparse");
    for _ in 0..300 {
        writer.end_frame().expect("end");
    }
    write(&mut writer, "a", ChunkType::U8, (1, 1), &[1]).expect("write");
    writer.end_frame().expect("end");
    let reader = Reader::open(writer.close().expect("close")).expect("open");
    assert_eq!(reader.frames(), 301);
    assert!(reader.check().expect("check").is_sound());
}

#[test]
fn numbers_are_printed_in_their_shortest_form() {
    let shown = |kind: ChunkType, data: &[u8]| {
        kind.numbers(data).map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(shown(ChunkType::I16, &[0xFF, 0xFF, 1, 0, 7]), "-1 1");
    assert_eq!(shown(ChunkType::U16, &[0xFF, 0xFF]), "65535");
    assert_eq!(shown(ChunkType::F32, &0.1_f32.to_le_bytes()), "0.1");
    assert_eq!(shown(ChunkType::F64, &f64::NAN.to_le_bytes()), "NaN");
}

#[test]
fn array_files_have_a_header_of_64_bytes_or_more() {
    let reader = Reader::open(fixture("g5_alltypes.gsd")).expect("open");
    for entry in reader.entries() {
        let entry = entry.expect("entry");
        let header = entry.npy_header(entry.rows());
        let length = u16::from_le_bytes([header[8], header[9]]);
        assert_eq!((header.len(), usize::from(length) + 10), (128, 128));
        let text = std::str::from_utf8(&header[10..]).expect("ASCII");
        assert!(text.starts_with("{'descr': '") && text.ends_with(" \n"), "{text}");
    }
    let strings = Reader::open(fixture("g5_string.gsd")).expect("open");
    let entry = strings.find(1, b"s").expect("find").expect("there");
    let header = String::from_utf8_lossy(&entry.npy_header(entry.rows())).into_owned();
    assert!(header.contains("{'descr': '|S15', 'fortran_order': False, 'shape': (), }"));
}
