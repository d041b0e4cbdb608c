//! The golden key sets, and key sets built from descriptions.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::collections::HashMap;
use std::path::PathBuf;

use cenote_keyset::{Key, KeyName, KeySet, MetaKey, ValueRef};
use serde_json::Value;

pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

pub(crate) fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap()
}

pub(crate) fn json(name: &str) -> Value {
    serde_json::from_slice(&bytes(name)).unwrap()
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn name(text: &str) -> KeyName {
    KeyName::new(text).unwrap()
}

/// `field` or `field_hex` of an object.
fn field(object: &Value, field: &str) -> Option<Vec<u8>> {
    match object.get(field) {
        Some(text) => Some(text.as_str()?.as_bytes().to_vec()),
        None => Some(unhex(object.get(format!("{field}_hex"))?.as_str()?)),
    }
}

/// The key set for a list of descriptions, with its sharing.
pub(crate) fn key_set(keys: &Value) -> KeySet {
    let mut shared = HashMap::new();
    keys.as_array().unwrap().iter().map(|key| one_key(key, &mut shared)).collect()
}

fn one_key(description: &Value, shared: &mut HashMap<u64, MetaKey>) -> Key {
    let mut key = Key::new(KeyName::new(field(description, "name").unwrap()).unwrap());
    let binary = description["type"] == "binary";
    if !binary {
        key.set_string(field(description, "value").unwrap()).unwrap();
    }
    for meta in description.get("meta").and_then(Value::as_array).into_iter().flatten() {
        let made = || MetaKey::new(field(meta, "name").unwrap(), field(meta, "value").unwrap());
        let meta = match meta.get("share").and_then(Value::as_u64) {
            Some(number) => shared.entry(number).or_insert_with(|| made().unwrap()).clone(),
            None => made().unwrap(),
        };
        key.share_meta(meta);
    }
    if binary {
        key.set_binary(field(description, "value").unwrap_or_default());
    }
    key
}

/// Checks keys against a list of descriptions: names in both forms, types,
/// values, metakeys, and which of those are shared.
pub(crate) fn assert_keys(keys: &KeySet, expected: &Value, what: &str) {
    let expected = expected.as_array().unwrap();
    let names: Vec<_> = keys.iter().map(|key| key.name().to_string()).collect();
    assert_eq!(keys.len(), expected.len(), "{what}: {names:?}");
    let mut shared = HashMap::new();
    for (key, expected) in keys.iter().zip(expected) {
        assert_eq!(key.name().to_bytes(), field(expected, "name").unwrap(), "{what}");
        assert_eq!(hex(&key.name().unescaped()), expected["unescaped_hex"], "{what}");
        let value = field(expected, "value");
        match key.value() {
            ValueRef::Null => assert!(expected["value_hex"].is_null(), "{what}: {key:?}"),
            found => assert_eq!(found.as_bytes(), value.unwrap(), "{what}: {key:?}"),
        }
        let kind = if key.value().is_binary() { "binary" } else { "string" };
        assert_eq!(kind, expected["type"], "{what}: {key:?}");
        let metas = expected.get("meta").and_then(Value::as_array).cloned().unwrap_or_default();
        assert_eq!(key.meta().len(), metas.len(), "{what}: {key:?}");
        for (meta, expected) in key.meta().zip(&metas) {
            let name = [b"meta:/", meta.name()].concat();
            assert_eq!(name, field(expected, "name").unwrap(), "{what}: {key:?}");
            assert_eq!(meta.value(), field(expected, "value").unwrap(), "{what}: {key:?}");
            if let Some(number) = expected.get("share").and_then(Value::as_u64) {
                let first = *shared.entry(number).or_insert(meta);
                assert!(first.is_same(meta), "{what}: {key:?} shares {meta:?}");
            }
        }
    }
}
