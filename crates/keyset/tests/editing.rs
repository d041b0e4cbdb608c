//! Editing a document preserves everything else: in random documents one value is set, added or removed, and the rest
//! is unchanged byte for byte. `PROPTEST_CASES` sets the number of cases.
#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod common;
mod documents;

use cenote_keyset::{Format, Key, KeyName, KeySet, ReadOptions, WriteError, edit, read, to_bytes};
use common::name;
use documents::{Document, Kind, Leaf, document};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

fn load(text: &[u8], format: Format) -> KeySet {
    let keys = read(text.to_vec(), &name("user:/p"), format, ReadOptions::default());
    keys.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(text)))
}

fn change(document: &Document, change: impl FnOnce(&mut KeySet)) -> Result<Vec<u8>, WriteError> {
    let mut keys = load(&document.text, document.format);
    change(&mut keys);
    edit(&document.text, &keys, &name("user:/p"), document.format)
}

fn key_name(parts: &[String]) -> KeyName {
    parts.iter().fold(name("user:/p"), |name, part| name.child(part).unwrap())
}

/// The lengths of the common prefix and suffix of two texts.
fn alike(a: &[u8], b: &[u8]) -> usize {
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let pairs = a[start..].iter().rev().zip(b[start..].iter().rev());
    start + pairs.take_while(|(a, b)| a == b).count()
}

/// A value that a leaf can take without changing its kind.
fn fitting(leaf: &Leaf, text: String, number: i32) -> String {
    match leaf.kind {
        Kind::Text | Kind::Date => text,
        Kind::Integer => number.to_string(),
        Kind::Float => format!("{number}.50"),
        Kind::Boolean => (number % 2).abs().to_string(),
    }
}

fn set(keys: &mut KeySet, at: &KeyName, value: &str) {
    let mut key = keys.get(at).map_or_else(|| Key::new(at.clone()), |key| key.to_key());
    key.set_string(value).unwrap();
    keys.append(key);
}

fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// Checks that only the text of `leaf` differs.
fn only_there(document: &Document, edited: &[u8], leaf: &Leaf) -> Result<(), TestCaseError> {
    let (before, after) = (&document.text[..leaf.span.start], &document.text[leaf.span.end..]);
    prop_assert!(edited.starts_with(before), "{}\n->\n{}", shown(&document.text), shown(edited));
    prop_assert!(edited.ends_with(after), "{}\n->\n{}", shown(&document.text), shown(edited));
    prop_assert!(edited.len() >= before.len() + after.len());
    Ok(())
}

proptest! {
    #[test]
    fn setting_a_value_changes_only_its_text(
        document in document(), at: prop::sample::Index, text in "[^\0]{0,9}", number: i32,
    ) {
        if document.leaves.is_empty() {
            return Ok(());
        }
        let leaf = at.get(&document.leaves);
        let (key, value) = (key_name(&leaf.parts), fitting(leaf, text, number));
        let edited = change(&document, |keys| set(keys, &key, &value));
        let edited = edited.map_err(|error| TestCaseError::fail(format!("{error}: {}", shown(&document.text))))?;
        only_there(&document, &edited, leaf)?;
        let keys = load(&edited, document.format);
        prop_assert_eq!(keys.get(&key).unwrap().value().as_bytes(), value.as_bytes());
        prop_assert_eq!(keys.len(), load(&document.text, document.format).len());
    }

    #[test]
    fn setting_the_current_value_changes_nothing(document in document()) {
        prop_assert_eq!(shown(&change(&document, |_| {}).unwrap()), shown(&document.text));
    }

    #[test]
    fn a_metakey_changes_only_the_text_of_its_key(document in document(), at: prop::sample::Index) {
        if document.leaves.is_empty() {
            return Ok(());
        }
        let leaf = at.get(&document.leaves);
        let key = key_name(&leaf.parts);
        let comment = |keys: &mut KeySet| {
            let mut key = keys.get(&key).unwrap().to_key();
            key.set_meta("comment/#0", "why").unwrap();
            keys.append(key);
        };
        let Ok(edited) = change(&document, comment) else {
            prop_assert_eq!(leaf.kind, Kind::Date);
            return Ok(());
        };
        if document.format == Format::Ini {
            prop_assert_eq!(alike(&document.text, &edited), document.text.len());
        } else {
            only_there(&document, &edited, leaf)?;
        }
        prop_assert!(load(&edited, document.format).get(&key).unwrap().meta_value("comment/#0").is_some());
    }

    #[test]
    fn a_new_key_only_adds_text(document in document(), at: prop::sample::Index, deep: bool) {
        let mut parts = vec![];
        if let Some(leaf) = document.leaves.get(at.index(document.leaves.len().max(1))) {
            parts.extend_from_slice(&leaf.parts[..leaf.parts.len() - 1]);
        }
        if deep {
            parts.push("new table".into());
        }
        parts.push("new".into());
        let key = key_name(&parts);
        match change(&document, |keys| set(keys, &key, "value")) {
            Ok(edited) => {
                let all = alike(&document.text, &edited);
                prop_assert_eq!(all, document.text.len(), "{}\n->\n{}", shown(&document.text), shown(&edited));
                prop_assert!(load(&edited, document.format).get(&key).is_some());
            }
            Err(error) => {
                let mut parts = document.leaves.iter().flat_map(|leaf| &leaf.parts);
                let has_arrays = parts.any(|part| part.starts_with('#'));
                prop_assert!(has_arrays, "{error}: {}", shown(&document.text));
            }
        }
    }

    #[test]
    fn removing_a_key_only_removes_text(document in document(), at: prop::sample::Index) {
        if document.leaves.is_empty() {
            return Ok(());
        }
        let leaf = at.get(&document.leaves);
        let key = key_name(&leaf.parts);
        match change(&document, |keys| drop(keys.remove(&key))) {
            Ok(edited) => {
                prop_assert_eq!(alike(&document.text, &edited), edited.len(),
                    "{}\n->\n{}", shown(&document.text), shown(&edited));
                prop_assert!(load(&edited, document.format).get(&key).is_none());
            }
            Err(error) => prop_assert!(leaf.may_stay, "{error}: {}", shown(&document.text)),
        }
    }
}

/// A document, the change, and the expected result; or the text of the refusal.
type Example =
    (Format, &'static str, &'static str, Option<&'static str>, Result<&'static str, &'static str>);

const EXAMPLES: [Example; 24] = [
    (
        Format::Json,
        r#"{"@id": "x", "@context": {}, "n": 1.50, "e": []}"#,
        "n",
        Some("0.10"),
        Ok(r#"{"@id": "x", "@context": {}, "n": 0.10, "e": []}"#),
    ),
    (
        Format::Json,
        r#"{"@id": "x", "id": "y"}"#,
        "@id",
        Some("z"),
        Ok(r#"{"@id": "z", "id": "y"}"#),
    ),
    (Format::Json, "{\"a\": 1, \"a\": 2}\n", "a", Some("3"), Ok("{\"a\": 1, \"a\": 3}\n")),
    (Format::Json, r#"{"a": 1, "a": 2}"#, "a", None, Err("twice")),
    (Format::Json, r#"{"n": 1.5}"#, "n", Some("2"), Ok(r#"{"n": 2}"#)),
    (Format::Json, r#"{"n": 1}"#, "n", Some("many"), Err("metakey `type`")),
    (Format::Json, r#"{"yes": false}"#, "yes", Some("true"), Ok(r#"{"yes": true}"#)),
    (Format::Json, r#"{"l": [1, 2]}"#, "l/#1", None, Ok(r#"{"l": [1]}"#)),
    (Format::Json, r#"{"l": [1, 2]}"#, "l/#0", None, Err("other names")),
    (Format::Json, r#"{"l": []}"#, "l/#0", Some("x"), Ok(r#"{"l": ["x"]}"#)),
    (
        Format::Json,
        "{\"l\": [\n  1,\n  2\n]}",
        "l/#2",
        Some("x"),
        Ok("{\"l\": [\n  1,\n  2,\n  \"x\"\n]}"),
    ),
    (Format::Json, r#"{"l": [1]}"#, "l/#3", Some("x"), Err("after its last one")),
    (Format::Json, r#"{"l": [1]}"#, "l", Some("x"), Err("an array")),
    (
        Format::Json,
        r#"{"a": {"b": 1}}"#,
        "a",
        Some("x"),
        Ok(r#"{"a": {"b": 1, "@": {"value": "x"}}}"#),
    ),
    (
        Format::Json,
        r#"{"a": 1}"#,
        "a/b",
        Some("x"),
        Ok(r#"{"a": {"@": {"value": "1", "meta": {"type": "long"}}, "b": "x"}}"#),
    ),
    (
        Format::Toml,
        "when = 1979-05-27 # born\nb = 1\n",
        "b",
        Some("2"),
        Ok("when = 1979-05-27 # born\nb = 2\n"),
    ),
    (Format::Toml, "when = 1979-05-27\n", "when/x", Some("2"), Err("a date")),
    (
        Format::Toml,
        "a = 1\n[t]\n  x = 1 # one\n\n[u]\n",
        "t/y",
        Some("2"),
        Ok("a = 1\n[t]\n  x = 1 # one\n  y = \"2\"\n\n[u]\n"),
    ),
    (Format::Toml, "a.b = 1\nc = 2\na.d = 3", "a/d", Some("4"), Ok("a.b = 1\nc = 2\na.d = 4")),
    (Format::Toml, "a = 1", "t/x", Some("2"), Ok("a = 1\n\n[t]\nx = \"2\"")),
    (
        Format::Toml,
        "# about\n\n[a.b]\nc = 1\r\n",
        "x",
        Some("2"),
        Ok("# about\n\nx = \"2\"\n[a.b]\nc = 1\r\n"),
    ),
    (
        Format::Ini,
        "; top\n\n[s]\nb=1\n\n[t]\n",
        "s/c",
        Some("2"),
        Ok("; top\n\n[s]\nb=1\nc = 2\n\n[t]\n"),
    ),
    (
        Format::Ini,
        "a = 1\r\n; mine\r\na = 2\r\n",
        "a",
        Some("3"),
        Ok("a = 1\r\n; mine\r\na = 3\r\n"),
    ),
    (Format::Ini, "a = 1\na = 2\n", "a", None, Err("twice")),
];

#[test]
fn examples() {
    for (format, text, at, value, expected) in EXAMPLES {
        let parent = name("user:/p");
        let mut keys = load(text.as_bytes(), format);
        let at = parent.join(at).unwrap();
        match value {
            Some(value) => set(&mut keys, &at, value),
            None => drop(keys.remove(&at)),
        }
        match (edit(text.as_bytes(), &keys, &parent, format), expected) {
            (Ok(edited), Ok(expected)) => assert_eq!(shown(&edited), expected),
            (Err(error), Err(message)) => {
                assert!(error.to_string().contains(message), "{text}: {error}")
            }
            (edited, _) => panic!("{text}: {:?}", edited.map(|text| shown(&text))),
        }
    }
}

#[test]
fn no_document_is_written_too_deep_to_be_read() {
    for format in [Format::Json, Format::Toml] {
        let mut written = 0;
        for depth in 1..140 {
            for kind in ["a", "#0"] {
                let parts = vec![kind.to_owned(); depth];
                let mut key = Key::new(key_name(&parts));
                key.set_meta("comment/#0", "deep").unwrap();
                let keys: KeySet = [key].into_iter().collect();
                let Ok(bytes) = to_bytes(&keys, &name("user:/p"), format) else { continue };
                assert_eq!(load(&bytes, format), keys, "{format} {depth}");
                written += 1;
                let empty: &[u8] = if format == Format::Json { b"{}" } else { b"" };
                if let Ok(edited) = edit(empty, &keys, &name("user:/p"), format) {
                    assert_eq!(load(&edited, format), keys, "{format} {depth}");
                }
            }
        }
        assert!(written > 100, "{format} {written}");
    }
}

#[test]
fn all_metadata_of_a_key_can_be_edited() {
    for format in [Format::Json, Format::Toml, Format::Ini] {
        let parent = name("user:/p");
        let mut key = Key::new(name("user:/p/a"));
        key.set_string("1").unwrap();
        let mut text = to_bytes(&[key.clone()].into_iter().collect(), &parent, format).unwrap();
        for step in 0..6 {
            match step {
                0 => key.set_meta("comment/#0", "why").unwrap(),
                1 => key.set_meta("order", "5").unwrap(),
                2 => key.set_string("2").unwrap(),
                3 => drop(key.remove_meta("comment/#0").unwrap()),
                4 => key.set_binary(b"\0\xff"),
                _ => key.set_string("3").unwrap(),
            }
            let keys: KeySet = [key.clone()].into_iter().collect();
            text = edit(&text, &keys, &parent, format).unwrap();
            assert_eq!(load(&text, format), keys, "{format} {step}: {}", shown(&text));
        }
    }
}
