//! Inherited chunks, compared with what the reference's reader of the HOOMD schema returns.

use std::collections::HashMap;

use cenote_gsd::{ChunkType, Number, Reader, Version, Writer};
use serde_json::{Map, Value};

use crate::common::{fixture, fixture_dir, fixture_names, json, write};

#[test]
fn a_frame_inherits_the_same_chunks_as_in_the_reference() {
    let mut seen = HashMap::new();
    for name in fixture_names().iter().filter(|name| name.contains("hoomd")) {
        let reference = format!("files/{name}.r501.json");
        if !fixture_dir().join(&reference).exists() {
            continue;
        }
        let reader = Reader::open(fixture(name)).expect(name);
        assert!(reader.is_hoomd());
        for (frame, expected) in
            json(&reference)["frames"].as_array().expect("frames").iter().enumerate()
        {
            for (part, fields) in expected.as_object().expect("an object") {
                check_part(
                    &reader,
                    frame as u64,
                    part,
                    fields.as_object().expect("an object"),
                    &mut seen,
                );
            }
        }
    }
    assert!(seen[&true] > 50 && seen[&false] > 50, "{seen:?}");
}

/// Compares the numbers of one part; counts the frame's own and the inherited ones.
fn check_part(
    reader: &Reader<Vec<u8>>,
    frame: u64,
    part: &str,
    fields: &Map<String, Value>,
    seen: &mut HashMap<bool, u32>,
) {
    for (field, expected) in fields {
        let name = format!("{part}/{field}");
        let found = reader.find_inherited(frame, name.as_bytes()).expect("a sound file");
        let (Some(entry), Some(numbers)) = (found, expected.get("v").and_then(numbers)) else {
            continue;
        };
        let data = reader.read_vec(&entry).expect("data");
        let read: Vec<f64> = entry.chunk_type().numbers(&data).map(wide).collect();
        assert_eq!(read, numbers, "frame {frame}, {name}");
        *seen.entry(entry.frame() == frame).or_default() += 1;
    }
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    match value {
        Value::Array(values) => values.iter().map(Value::as_f64).collect(),
        value => Some(vec![value.as_f64()?]),
    }
}

fn wide(number: Number) -> f64 {
    match number {
        Number::Unsigned(number) => number as f64,
        Number::Signed(number) => number as f64,
        Number::Single(number) => f64::from(number),
        Number::Double(number) => number,
    }
}

#[test]
fn rows_are_not_inherited_if_the_number_of_particles_differs() {
    let reader = Reader::open(fixture("g5_hoomd_full.gsd")).expect("open");
    let from = |frame, name: &str| {
        let found = reader.find_inherited(frame, name.as_bytes()).expect("a sound file");
        found.map(|entry| entry.frame())
    };
    assert_eq!(from(1, "particles/velocity"), Some(0));
    assert_eq!(from(2, "particles/velocity"), None);
    assert_eq!(from(2, "particles/types"), Some(0));
    assert_eq!(from(2, "configuration/box"), Some(0));
    assert_eq!(from(4, "log/value"), Some(4));
    assert_eq!(from(3, "log/particles/e"), Some(0));
    assert_eq!(from(3, "log/none"), None);
    assert_eq!(from(5, "log/value"), None, "there are five frames");
}

#[test]
fn an_invalid_count_is_ignored() {
    let mut writer =
        Writer::create_in(Vec::new(), "test", "hoomd", Version::new(1, 4)).expect("memory");
    let add = |writer: &mut Writer<_>, name, kind, shape, data: &[u8]| {
        write(writer, name, kind, shape, data).expect("memory");
    };
    add(&mut writer, "particles/mass", ChunkType::U8, (2, 1), &[1, 2]);
    add(&mut writer, "state/x", ChunkType::U8, (1, 1), &[1]);
    writer.end_frame().expect("memory");
    add(&mut writer, "particles/N", ChunkType::U8, (0, 1), &[]);
    add(&mut writer, "bonds/N", ChunkType::U64, (1, 2), &[0; 16]);
    add(&mut writer, "pairs/N", ChunkType::U32, (1, 1), &[0; 4]);
    writer.end_frame().expect("memory");
    let reader = Reader::open(writer.close().expect("memory")).expect("open");
    let inheritance = reader.inheritance(1).expect("a sound file");
    for (name, expected) in [
        ("particles/mass", false),
        ("particles/types", true),
        ("bonds/group", false),
        ("pairs/group", true),
        ("angles/group", true),
        ("state/x", false),
        ("other", true),
    ] {
        assert_eq!(inheritance.covers(name.as_bytes()), expected, "{name}");
    }
    assert_eq!(reader.find_inherited(1, b"state/x").expect("a sound file"), None);
}
