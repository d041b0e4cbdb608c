//! Keys as a line of text or of JSON.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use cenote_keyset::{KeyRef, ValueRef};
use serde_json::{Map, Value, json};

/// A key as JSON: `value` for text, `base64` for bytes, and null for a null value.
pub(crate) fn key_json(key: KeyRef<'_>) -> Value {
    let mut object = Map::new();
    object.insert("name".into(), key.name().to_string().into());
    let (member, value) = match key.value() {
        ValueRef::String(text) => match std::str::from_utf8(text) {
            Ok(text) => ("value", text.into()),
            Err(_) => ("base64", BASE64_STANDARD.encode(text).into()),
        },
        ValueRef::Binary(bytes) => ("base64", BASE64_STANDARD.encode(bytes).into()),
        ValueRef::Null => ("value", Value::Null),
    };
    object.insert(member.into(), value);
    let metas = key.meta().map(|meta| (lossy(meta.name()), lossy(meta.value()).into()));
    object.insert("binary".into(), json!(key.value().is_binary()));
    object.insert("meta".into(), Value::Object(metas.collect()));
    Value::Object(object)
}

/// A value as Elektra's messages show it.
pub(crate) fn described(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::String(text) => format!("string \"{}\"", lossy(text)),
        ValueRef::Binary(bytes) => format!("{} bytes", bytes.len()),
        ValueRef::Null => "null value".into(),
    }
}

/// `1 key`, `2 keys`.
pub(crate) fn keys(count: usize) -> String {
    if count == 1 { "1 key".into() } else { format!("{count} keys") }
}

/// Text for people.
pub(crate) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
