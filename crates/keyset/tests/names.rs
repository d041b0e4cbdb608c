//! Names, edits, relations and order as recorded from the real library.
#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod common;

use std::cmp::Ordering;
use std::io::Read;

use cenote_keyset::{KeyName, Namespace};
use common::{bytes, hex, json, name};

#[test]
fn hand_picked_names() {
    for case in json("name_cases.json")["names"].as_array().unwrap() {
        let made = KeyName::new(case["input"].as_str().unwrap());
        assert_eq!(made.is_ok(), case["valid"] == true, "{case}");
        if let Ok(name) = made {
            assert_eq!(name.as_bytes(), case["canonical"].as_str().unwrap().as_bytes(), "{case}");
            assert_eq!(hex(&name.unescaped()), case["unescaped_hex"], "{case}");
        }
    }
}

#[test]
fn every_short_name() {
    let mut table = String::new();
    let packed = bytes("keynames_systematic.tsv.gz");
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut table).unwrap();
    let mut count = 0;
    for line in table.lines() {
        let mut columns = line.split('\t');
        let (input, canonical) = (columns.next().unwrap(), columns.next().unwrap());
        count += 1;
        match KeyName::new(input) {
            Err(_) => assert_eq!(canonical, "-", "{input}"),
            Ok(name) => {
                assert_eq!(name.as_bytes(), canonical.as_bytes(), "{input}");
                assert_eq!(hex(&name.unescaped()), columns.next().unwrap(), "{input}");
            }
        }
    }
    assert!(count > 40_000, "{count}");
}

/// Where the real library produces a name that it then rejects, or reads before its buffer, we implement the
/// intended behaviour.
fn differs(op: &str, argument: &str) -> Option<&'static str> {
    match (op, argument) {
        ("add_basename", "#10/") => Some("#10\\/"),
        ("add_name", "\\%") => Some("\\%"),
        _ => None,
    }
}

#[test]
fn edits() {
    for case in json("name_cases.json")["edit"].as_array().unwrap() {
        let base = name(case["base"].as_str().unwrap());
        let (op, argument) = (case["op"].as_str().unwrap(), case["arg"].as_str().unwrap());
        let edited = match op {
            "add_basename" => base.child(argument),
            "add_name" => base.join(argument),
            "set_basename" => base.with_base_name(argument),
            other => panic!("unknown edit {other}"),
        };
        if let Some(end) = differs(op, argument) {
            assert!(edited.unwrap().as_bytes().ends_with(end.as_bytes()), "{case}");
            continue;
        }
        assert_eq!(edited.is_ok(), case["ok"] == true, "{case}");
        if let Ok(name) = edited {
            assert_eq!(name.as_bytes(), case["name"].as_str().unwrap().as_bytes(), "{case}");
            assert_eq!(hex(&name.unescaped()), case["unescaped_hex"], "{case}");
        }
    }
}

#[test]
fn relations() {
    for case in json("name_cases.json")["relations"].as_array().unwrap() {
        let above = name(case[0].as_str().unwrap());
        let below = name(case[1].as_str().unwrap());
        let sign = match above.cmp(&below) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        };
        assert_eq!(sign, case[2], "{case}");
        assert_eq!(u8::from(below.is_below(&above)), case[3], "{case}");
        assert_eq!(u8::from(below.is_directly_below(&above)), case[4], "{case}");
        assert_eq!(u8::from(below.is_below_or_same(&above)), case[5], "{case}");
    }
}

#[test]
fn an_index_is_escaped_only_as_a_whole_part() {
    let root = KeyName::root(Namespace::User);
    for part in ["#99a", "#10/", "#99", "#1", "#_10", "#", "#01", "#9223372036854775808"] {
        let child = root.child(part).unwrap();
        assert_eq!(child.base_name().unwrap(), part.as_bytes());
        assert_eq!(KeyName::new(child.as_bytes()).unwrap().as_bytes(), child.as_bytes(), "{part}");
    }
}

#[test]
fn prefixes_are_replaced_within_a_namespace() {
    let replaced = |old, new| {
        let name = name("user:/a\\/b/#_10/%");
        name.replace_prefix(&common::name(old), &common::name(new)).map(|name| name.to_string())
    };
    assert_eq!(replaced("user:/a\\/b", "system:/x").unwrap(), "system:/x/#_10/%");
    assert_eq!(replaced("user:/", "dir:/").unwrap(), "dir:/a\\/b/#_10/%");
    assert_eq!(replaced("user:/a\\/b/#_10/%", "dir:/").unwrap(), "dir:/");
    assert_eq!(replaced("user:/%", "dir:/%").unwrap(), "dir:/a\\/b/#_10/%");
    assert_eq!(replaced("user:/a", "dir:/"), None);
    assert_eq!(replaced("system:/", "dir:/"), None);
}

#[test]
fn errors_suggest_a_valid_name() {
    let refusal = |name: &str| KeyName::new(name).unwrap_err().to_string();
    assert_eq!(refusal(""), "a key name is not empty: write `/` or `user:/` for a root");
    assert!(refusal("sys:/a").contains("`sys` is not a namespace"));
    assert!(refusal("a/b").contains("starts with `/` or with a namespace"));
    assert!(refusal("/a\\b").contains("backslash at byte 2"));
    assert!(refusal("/a\0").contains("NUL at byte 2"));
}

#[test]
fn user_input_is_a_complete_cascading_or_relative_name() {
    let parent = name("user:/app");
    for (text, expected) in [
        ("port", "user:/app/port"),
        ("a/b:/c", "user:/app/a/b:/c"),
        ("a:b", "user:/app/a:b"),
        ("", "user:/app"),
        ("../x", "user:/x"),
        ("system:/x", "system:/x"),
        ("/x", "/x"),
    ] {
        assert_eq!(parent.resolve(text), Ok(name(expected)), "{text}");
    }
    for wrong in ["users:/x", "user:", "http://host", "a\\", "a\0"] {
        assert!(parent.resolve(wrong).is_err(), "{wrong}");
    }
}
