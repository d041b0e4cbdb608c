//! Hand-made inputs: what the real readers accept is read identically; what they reject or crash on is an error.
#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod common;

use cenote_keyset::{Fault, Format, KeySet, ReadError, ReadOptions, ValueRef, read, to_bytes};
use common::{assert_keys, bytes, json, name, unhex};
use serde_json::Value;

fn try_read(input: Vec<u8>, parent: &str, format: Format) -> Result<KeySet, ReadError> {
    read(input, &name(parent), format, ReadOptions::default())
}

fn format_of(case: &Value) -> Format {
    Format::from_name(case["plugin"].as_str().unwrap()).unwrap()
}

#[test]
fn every_case_is_read_as_the_real_reader_reads_it() {
    for case in json("read_cases.json").as_array().unwrap() {
        let Some(result) = case.get("result") else { continue };
        let what = format!("{} {}", case["plugin"], case["case"]);
        let input = unhex(case["input_hex"].as_str().unwrap());
        let length = input.len() as u64;
        // This crate reads versions 1 and 2, although the real reader no longer does.
        let given_up = case["case"] == "magic_v1";
        match try_read(input, case["parent"].as_str().unwrap(), format_of(case)) {
            Ok(keys) if result["return"] == 1 => assert_keys(&keys, &result["keys"], &what),
            Ok(_) => assert!(given_up, "{what} should be refused"),
            Err(error) => {
                assert_ne!(result["return"], 1, "{what}: {error}");
                assert!(error.offset <= length, "{what}: {error}");
            }
        }
    }
}

#[test]
fn prefixes_are_refused_except_after_complete_keys() {
    for case in json("read_cases.json").as_array().unwrap() {
        let Some(prefixes) = case.get("prefixes").and_then(Value::as_array) else { continue };
        let input = unhex(case["input_hex"].as_str().unwrap());
        for prefix in prefixes {
            let length = prefix[0].as_u64().unwrap() as usize;
            let read = try_read(input[..length].to_vec(), "user:/tests/golden", format_of(case));
            assert_eq!(read.is_ok(), prefix[1] == 1, "prefix of {length}");
            if let Ok(keys) = read {
                assert_eq!(keys.len() as u64, prefix[2].as_u64().unwrap(), "prefix of {length}");
            }
        }
    }
}

#[test]
fn no_prefix_of_a_small_golden_file_panics() {
    for about in json("index.json").as_array().unwrap() {
        for file in about["files"].as_object().unwrap().keys() {
            let whole = bytes(file);
            if whole.len() > 3000 {
                continue;
            }
            let format = Format::from_name(file.rsplit('.').next().unwrap()).unwrap();
            for length in 0..whole.len() {
                for strict in [false, true] {
                    let options = ReadOptions { strict, ..ReadOptions::default() };
                    let parent = name(about["parent"].as_str().unwrap());
                    let _ = read(whole[..length].to_vec(), &parent, format, options);
                }
            }
        }
    }
}

#[test]
fn errors_report_their_location() {
    let input = b"EKDB\0\0\0\x03\x03as\x031\0\x03bx\x031\0".to_vec();
    let error = try_read(input, "user:/a", Format::Quickdump).unwrap_err();
    assert_eq!(error.offset, 14);
    assert!(matches!(error.fault, Fault::UnknownType(_)), "{error}");
    assert_eq!(error.to_string(), "at byte 14: `x` is no type of key");
}

#[test]
fn a_short_file_is_reported_as_truncated_only_if_it_starts_as_one() {
    let fault =
        |input: &[u8]| try_read(input.into(), "user:/a", Format::Quickdump).unwrap_err().fault;
    for cut in [&b"E"[..], b"EKDB", b"EKDB\0\0\0"] {
        assert!(matches!(fault(cut), Fault::UnexpectedEnd), "{cut:?}");
    }
    for other in [&b"{}\n"[..], b"EKD\n", b"junk\n", b"kdbOpen 2\n"] {
        assert!(matches!(fault(other), Fault::WrongMagic(_)), "{other:?}");
    }
}

#[test]
fn lengths_past_the_end_allocate_nothing() {
    for length in ["00ffffffffffffffff", "00ffffffffffffff7f", "8000000000000080"] {
        let input = [b"EKDB\0\0\0\x03\x03ab".to_vec(), unhex(length), b"x".to_vec()].concat();
        let error = try_read(input, "user:/a", Format::Quickdump).unwrap_err();
        assert!(matches!(error.fault, Fault::UnexpectedEnd), "{error}");
    }
    for length in ["99999999999", "18446744073709551615", "-1", "0x10", ""] {
        let input = format!("kdbOpen 2\n$key binary 1 {length}\na\nv\n$end\n");
        let error = try_read(input.into_bytes(), "user:/a", Format::Dump).unwrap_err();
        let bad = matches!(error.fault, Fault::BadLength | Fault::ExpectedNewline(_));
        assert!(bad, "{length}: {error}");
    }
}

#[test]
fn letters_in_place_of_a_second_length_are_read_as_0() {
    for line in ["$key binary 1 b", "$key binary 1xy", "$key binary 1x 5"] {
        let input = format!("kdbOpen 2\n{line}\na\n\n$meta 6 m\nbinary\n\n$end\n");
        let keys = try_read(input.clone().into(), "user:/p", Format::Dump).unwrap();
        assert_eq!(keys.at(0).unwrap().value(), ValueRef::Null, "{line}");
        let written = to_bytes(&keys, &name("user:/p"), Format::Dump).unwrap();
        let expected = "kdbOpen 2\n$key binary 1 0\na\n\n$meta 6 0\nbinary\n\n$end\n";
        assert_eq!(String::from_utf8_lossy(&written), expected);
        let strict = ReadOptions { strict: true, ..ReadOptions::default() };
        read(input.into_bytes(), &name("user:/p"), Format::Dump, strict).unwrap_err();
    }
}

#[test]
fn strict_refuses_files_that_no_writer_produces() {
    let strict = ReadOptions { strict: true, ..ReadOptions::default() };
    let quickdump: &[(&[u8], &str)] = &[
        (b"\x03as\x031\0\x03as\x032\0", "twice"),
        (b"\x03bs\x031\0\x03as\x032\0", "out of order"),
        (b"\x05a\\s\x031\0", "invalid"),
        (b"\x05a/s\x031\0", "canonical"),
        (b"\x09../xs\x031\0", "not below the parent"),
        (b"\x03as\x031m\x03b\x01m\x03a\x01\0", "metakey"),
        (b"\x03as\x051\x00\0", "NUL"),
        (b"\x03as\x03\xff\0", "UTF-8"),
        (b"\x03ab\x031\0", "disagree"),
        (b"\x06\0as\x031\0", "shortest"),
    ];
    for (keys, reason) in quickdump {
        let input = [b"EKDB\0\0\0\x03".as_slice(), keys].concat();
        read(input.clone(), &name("user:/p"), Format::Quickdump, ReadOptions::default()).unwrap();
        let error = read(input, &name("user:/p"), Format::Quickdump, strict).unwrap_err();
        assert!(error.to_string().contains(reason), "{reason}: {error}");
    }
    for text in ["kdbOpen 2\n", "kdbOpen 2\n$end\nmore", "kdbOpen 2\n$meta 1 1\nm\nv\n$end\n"] {
        let input = text.as_bytes().to_vec();
        read(input.clone(), &name("user:/p"), Format::Dump, ReadOptions::default()).unwrap();
        read(input, &name("user:/p"), Format::Dump, strict).unwrap_err();
    }
}

#[test]
fn quickdump_1_and_2_are_read() {
    let number = |n: u64| n.to_le_bytes().to_vec();
    let string = |text: &[u8]| [number(text.len() as u64), text.to_vec()].concat();
    for (version, key) in [(1, "dir/tests/bench/0"), (2, "0")] {
        let mut file = b"EKDB\0\0\0".to_vec();
        file.push(version);
        file.extend([string(key.as_bytes()), b"s".to_vec(), string(b"value")].concat());
        file.extend([b"m".to_vec(), string(b"meta/0"), string(b"x"), b"\0".to_vec()].concat());
        let keys = try_read(file, "dir:/tests/bench", Format::Quickdump).unwrap();
        let key = keys.get(&name("dir:/tests/bench/0")).unwrap();
        assert_eq!(key.value().as_bytes(), b"value");
        assert_eq!(key.meta_value("meta/0"), Some(&b"x"[..]));
    }
}

#[test]
fn an_old_root_name_that_crashes_the_real_reader_is_an_error() {
    let input = b"kdbOpen 1\nksNew 1\nkeyNew 5 2\nuser\0v\0\nkeyEnd\nksEnd\n".to_vec();
    let error = try_read(input, "user:/x", Format::Dump).unwrap_err();
    assert_eq!(error.offset, 18);
    assert!(matches!(error.fault, Fault::Name(_)), "{error}");
    let key = b"kdbOpen 1\nksNew 1\nkeyNew 7 2\nuser/a\0v\0\n";
    let copy = b"keyCopyMeta 5 2\nuser\0m\0\nkeyEnd\nksEnd\n";
    let error = try_read([&key[..], copy].concat(), "user:/x", Format::Dump).unwrap_err();
    assert_eq!(error.offset, key.len() as u64);
    assert!(matches!(error.fault, Fault::Name(_)), "{error}");
}
