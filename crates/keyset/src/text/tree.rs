//! Key sets as trees of JSON values, and back.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};

use crate::format::{Fault, Format, WriteError};
use crate::key::{Key, KeyRef};
use crate::keyset::KeySet;
use crate::meta::BINARY;
use crate::name::KeyName;
use crate::value::ValueRef;

/// The member that holds what a plain value cannot say.
const KEY: &str = "@";

/// Parts a name may have: readers of JSON and TOML limit the depth too.
const MAX_DEPTH: usize = 100;

/// The tree of the keys below `parent`.
pub(super) fn value(keys: &KeySet, parent: &KeyName, format: Format) -> Result<Value, WriteError> {
    let mut root = Node::default();
    for key in keys {
        let refuse = |reason| WriteError::NotExpressible {
            format: format.name(),
            name: key.name().to_string(),
            reason,
        };
        let name = key.name().to_name();
        if !name.is_below_or_same(parent) || name.namespace() != parent.namespace() {
            return Err(WriteError::OutsideParent(name.to_string()));
        }
        let parts = name.parts().skip(parent.parts().count()).collect::<Vec<_>>();
        if parts.len() > MAX_DEPTH {
            return Err(refuse("the name has over 100 parts"));
        }
        let mut node = &mut root;
        for part in parts {
            let part = String::from_utf8(part).map_err(|_| refuse("the name is not UTF-8"))?;
            node = node.child(part);
        }
        node.key = Some(leaf(key, format).ok_or_else(|| refuse("metadata is not UTF-8"))?);
    }
    // The root of TOML is always a table.
    let is_plain_array = format == Format::Json && root.key.is_none();
    Ok(if is_plain_array && root.is_array() { root.into_value() } else { root.into_table() })
}

#[derive(Default)]
struct Node {
    key: Option<Value>,
    children: Map<String, Value>,
    nodes: Vec<(String, Node)>,
}

impl Node {
    /// The child of this name; in key order it is the last, or new.
    fn child(&mut self, part: String) -> &mut Self {
        if self.nodes.last().is_none_or(|(last, _)| *last != part) {
            self.nodes.push((part, Self::default()));
        }
        &mut self.nodes.last_mut().expect("one was just pushed").1
    }

    fn into_value(self) -> Value {
        match self.key {
            None if self.is_array() => {
                self.nodes.into_iter().map(|(_, n)| n.into_value()).collect()
            }
            Some(plain) if self.nodes.is_empty() && plain.get(KEY).is_none() => plain,
            _ => self.into_table(),
        }
    }

    fn into_table(mut self) -> Value {
        if let Some(key) = self.key {
            let full = match key {
                Value::Object(mut full) => full.remove(KEY).unwrap_or_default(),
                plain => full_form(plain),
            };
            self.children.insert(KEY.into(), full);
        }
        for (part, node) in self.nodes {
            self.children.insert(escape(part), node.into_value());
        }
        Value::Object(self.children)
    }

    fn is_array(&self) -> bool {
        let parts = self.nodes.iter().map(|(part, _)| part);
        !self.nodes.is_empty() && parts.enumerate().all(|(index, part)| *part == element(index))
    }
}

/// The name part of an array element: `#0`, `#_10`, ….
fn element(index: usize) -> String {
    let digits = index.to_string();
    format!("#{}{digits}", "_".repeat(digits.len() - 1))
}

fn escape(part: String) -> String {
    if part.starts_with(KEY) { format!("{KEY}{part}") } else { part }
}

/// A key's value: as other programs know it if nothing is lost by that, else
/// an object with the member `@`.
fn leaf(key: KeyRef<'_>, format: Format) -> Option<Value> {
    let metas = key
        .meta()
        .filter(|meta| !(meta.name == BINARY && meta.value.is_empty()))
        .map(|meta| Some((text(meta.name)?, Value::String(text(meta.value)?))))
        .collect::<Option<Map<_, _>>>()?;
    if let Some(native) = native(key.value(), &metas, format) {
        return Some(native);
    }
    let mut full = Map::new();
    match key.value() {
        ValueRef::String(value) if text(value).is_some() => {
            full.insert("value".into(), Value::String(text(value)?));
        }
        ValueRef::String(value) => {
            full.insert("bytes".into(), BASE64_STANDARD.encode(value).into());
        }
        value => {
            full.insert("binary".into(), BASE64_STANDARD.encode(value.as_bytes()).into());
        }
    }
    if !metas.is_empty() {
        full.insert("meta".into(), Value::Object(metas));
    }
    Some(Value::Object(Map::from_iter([(KEY.to_owned(), Value::Object(full))])))
}

fn text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

/// The value without `@`, if reading it gives this key again.
fn native(value: ValueRef<'_>, metas: &Map<String, Value>, format: Format) -> Option<Value> {
    let native = match (value, metas.get("type").and_then(Value::as_str)) {
        (ValueRef::Null, None) if format == Format::Json => Value::Null,
        (ValueRef::String(value), None) => Value::String(text(value)?),
        (ValueRef::String(b"1"), Some("boolean")) => true.into(),
        (ValueRef::String(b"0"), Some("boolean")) => false.into(),
        (ValueRef::String(value), Some("long")) => text(value)?.parse::<i64>().ok()?.into(),
        (ValueRef::String(value), Some("double")) => {
            serde_json::Number::from_f64(text(value)?.parse().ok()?)?.into()
        }
        _ => return None,
    };
    let (again, kind) = plain_text(&native);
    let metas_again = usize::from(kind.is_some());
    (metas.len() == metas_again && again.as_bytes() == value.as_bytes()).then_some(native)
}

/// What a plain value is as text, and its type.
fn plain_text(value: &Value) -> (String, Option<&'static str>) {
    match value {
        Value::Bool(yes) => (u8::from(*yes).to_string(), Some("boolean")),
        Value::Number(number) if number.is_f64() => (number.to_string(), Some("double")),
        Value::Number(number) => (number.to_string(), Some("long")),
        Value::String(text) => (text.clone(), None),
        _ => (String::new(), None),
    }
}

/// The member `@` of a key whose value is plain but that has keys below it.
fn full_form(plain: Value) -> Value {
    let (text, kind) = plain_text(&plain);
    let mut full = Map::new();
    if plain.is_null() {
        full.insert("binary".into(), "".into());
    } else {
        full.insert("value".into(), text.into());
    }
    if let Some(kind) = kind {
        full.insert("meta".into(), Map::from_iter([("type".to_owned(), kind.into())]).into());
    }
    Value::Object(full)
}

/// The keys of a tree.
pub(super) fn keys(tree: Value, parent: &KeyName) -> Result<KeySet, Fault> {
    let mut keys = KeySet::new();
    add(tree, parent.clone(), &mut keys)?;
    Ok(keys)
}

fn add(value: Value, name: KeyName, keys: &mut KeySet) -> Result<(), Fault> {
    match value {
        Value::Object(members) => {
            for (part, member) in members {
                match part.strip_prefix(KEY) {
                    Some("") => keys.append(full_key(member, &name)?),
                    Some(part) => add(member, child(&name, part)?, keys)?,
                    None => add(member, child(&name, &part)?, keys)?,
                }
            }
            Ok(())
        }
        Value::Array(items) => items
            .into_iter()
            .enumerate()
            .try_for_each(|(index, item)| add(item, child(&name, &element(index))?, keys)),
        plain => {
            keys.append(plain_key(&plain, name)?);
            Ok(())
        }
    }
}

fn child(name: &KeyName, part: &str) -> Result<KeyName, Fault> {
    name.child(part).map_err(|error| wrong(&error.to_string()))
}

fn plain_key(plain: &Value, name: KeyName) -> Result<Key, Fault> {
    let mut key = Key::new(name);
    if plain.is_null() {
        key.set_binary(b"");
        return Ok(key);
    }
    let (text, kind) = plain_text(plain);
    key.set_string(text).map_err(|error| wrong(&error.to_string()))?;
    if let Some(kind) = kind {
        key.set_meta("type", kind).map_err(|error| wrong(&error.to_string()))?;
    }
    Ok(key)
}

fn full_key(member: Value, name: &KeyName) -> Result<Key, Fault> {
    let Value::Object(mut full) = member else {
        return Err(wrong("the member `@` is an object with `value`, `bytes` or `binary`"));
    };
    let mut key = Key::new(name.clone());
    for kind in ["value", "bytes", "binary"] {
        if let Some(value) = full.remove(kind) {
            set_value(&mut key, kind, &value)?;
        }
    }
    if let Some(Value::Object(metas)) = full.remove("meta") {
        for (meta, value) in metas {
            let value = value.as_str().ok_or_else(|| wrong("metadata is text"))?;
            key.set_meta(meta, value).map_err(|error| wrong(&error.to_string()))?;
        }
    }
    Ok(key)
}

fn set_value(key: &mut Key, kind: &str, value: &Value) -> Result<(), Fault> {
    let text = value.as_str().ok_or_else(|| wrong("`value`, `bytes` and `binary` are text"))?;
    let bytes = match kind {
        "value" => text.as_bytes().to_vec(),
        _ => BASE64_STANDARD.decode(text).map_err(|error| wrong(&error.to_string()))?,
    };
    if kind == "binary" {
        key.set_binary(bytes);
        return Ok(());
    }
    key.set_string(bytes).map_err(|error| wrong(&error.to_string()))
}

fn wrong(message: &str) -> Fault {
    Fault::Text { format: "tree", message: message.to_owned() }
}
