//! Damaged files yield an error or bytes from inside the file: no panic, no large allocation.

use crate::common::{contents, fixture, fixture_names, json};
use cenote_gsd::{Error, Reader, Writer, recover};
use proptest::prelude::*;

/// Every operation on a file, for one that may be damaged.
fn exercise(bytes: &[u8]) {
    if let Ok(reader) = Reader::open(bytes) {
        let _ = contents(&reader);
        let _ = reader.check();
        for frame in 0..reader.frames().min(4) {
            let _ = reader.frame(frame);
            for name in reader.names().iter().take(50) {
                let _ = reader.find(frame, name);
            }
        }
        let _ = reader.repack(Vec::new(), |_, _| {});
    }
    let _ = recover(&bytes, Vec::new(), |_, _| ());
    if let Ok(mut writer) = Writer::open_in(bytes.to_vec()) {
        let _ = writer.upgrade();
        let _ = crate::common::write(&mut writer, "new", cenote_gsd::ChunkType::U8, (1, 1), &[1]);
        let _ = writer.end_frame();
        let _ = writer.close();
    }
}

#[test]
fn every_truncation_is_handled() {
    for name in ["g5_string.gsd", "g5_one.gsd", "g1_one.gsd"] {
        let whole = fixture(name);
        for length in 0..whole.len() {
            exercise(&whole[..length]);
            let opened = Reader::open(&whole[..length]);
            assert!(opened.is_err(), "{name} opens with {length} bytes");
        }
    }
}

#[test]
fn every_bit_flip_of_header_and_index_is_handled() {
    let whole = fixture("g5_string.gsd");
    let interesting = (0..256 + 4 * 32).chain(4352..4352 + 8);
    for at in interesting {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            exercise(&bytes);
        }
    }
}

#[test]
fn corruption_recipes_give_the_result_of_the_reference_or_an_error() {
    for recipe in json("corrupt.json").as_array().expect("recipes") {
        let name = recipe["name"].as_str().expect("a name");
        let real = &recipe["real"]["r"];
        let opened = Reader::open(damaged(recipe));
        match real["open"].as_str() {
            Some("ok") => assert_ok(opened, real, name),
            _ => assert_refused(opened.err(), real["msg"].as_str().unwrap_or("Corrupt"), name),
        }
        exercise(&damaged(recipe));
    }
}

fn damaged(recipe: &serde_json::Value) -> Vec<u8> {
    let mut bytes = fixture(recipe["base"].as_str().expect("a file"));
    for patch in recipe["patches"].as_array().expect("patches") {
        let at = patch[0].as_u64().expect("an offset") as usize;
        let hex = patch[1].as_str().expect("bytes").as_bytes();
        for (i, pair) in hex.chunks(2).enumerate() {
            let pair = std::str::from_utf8(pair).expect("hex");
            bytes[at + i] = u8::from_str_radix(pair, 16).expect("hex");
        }
    }
    match recipe["truncate"].as_i64() {
        Some(length) if length < 0 => bytes.truncate(bytes.len() - length.unsigned_abs() as usize),
        Some(length) => bytes.truncate(length as usize),
        None => {}
    }
    bytes
}

/// Impossible sizes, which the reference accepts because its arithmetic wraps, are errors here.
fn assert_ok(opened: Result<Reader<Vec<u8>>, Error>, real: &serde_json::Value, name: &str) {
    if name.contains("wraps") || name.contains("location -5") {
        assert!(matches!(opened, Err(Error::Corrupt { at: 256, .. })), "{name}");
        return;
    }
    let reader = opened.expect(name);
    assert_eq!(reader.frames(), real["nframes"], "{name}");
}

fn assert_refused(error: Option<Error>, message: &str, name: &str) {
    let error = error.expect(name);
    let agrees = match error {
        Error::NotGsd(_) => message.starts_with("Not a GSD file"),
        Error::UnsupportedVersion(..) => message.starts_with("Unsupported"),
        Error::Corrupt { .. } => {
            message.starts_with("Corrupt")
                || message.starts_with("[Errno 22]")
                || message.starts_with("Invalid gsd argument")
        }
        _ => false,
    };
    assert!(agrees, "{name}: {error} instead of {message}");
}

#[test]
fn a_source_that_shrank_gives_an_error() {
    let file = tempfile::NamedTempFile::new().expect("temporary file");
    std::fs::write(file.path(), fixture("g5_one.gsd")).expect("write");
    let reader = Reader::open(std::fs::File::open(file.path()).expect("open")).expect("open");
    let entry = reader.find(0, b"a").expect("find").expect("there");
    file.as_file().set_len(5380).expect("shrink");
    let error = reader.read_vec(&entry).expect_err("4 of 12 bytes are there");
    assert!(matches!(error, Error::Io(e) if e.kind() == std::io::ErrorKind::UnexpectedEof));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bytes_are_handled(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        exercise(&bytes);
    }

    #[test]
    fn patched_files_are_handled(
        which in 0_usize..1000,
        patches in proptest::collection::vec((0_usize..6000, any::<u8>()), 1..8),
        cut in proptest::option::of(0_usize..8000),
    ) {
        let names = fixture_names();
        let mut bytes = fixture(&names[which % names.len()]);
        for (at, value) in patches {
            let at = at % bytes.len();
            bytes[at] = value;
        }
        bytes.truncate(cut.unwrap_or(usize::MAX));
        exercise(&bytes);
    }
}
