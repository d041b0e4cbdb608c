//! The keys of a JSON or TOML document.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::document::{Node, Value};
use super::literal::plain_text;
use super::tree::{element, unescape};
use crate::key::Key;
use crate::keyset::KeySet;
use crate::name::KeyName;

/// An error in a document, and its byte offset.
pub(super) struct Misfit {
    pub(super) at: usize,
    pub(super) message: String,
}

/// The keys of a document, below `parent`.
pub(super) fn keys(root: &Node, parent: &KeyName) -> Result<KeySet, Misfit> {
    let mut keys = KeySet::new();
    add(root, parent.clone(), &mut keys)?;
    Ok(keys)
}

fn add(node: &Node, name: KeyName, keys: &mut KeySet) -> Result<(), Misfit> {
    match &node.value {
        Value::Table(..) => node.members().into_iter().try_for_each(|member| {
            match unescape(&member.name) {
                None => keys.append(full_key(&member.node, &name)?),
                Some(part) => {
                    let child = name.child(part).map_err(|error| wrong(member.start, error))?;
                    add(&member.node, child, keys)?;
                }
            }
            Ok(())
        }),
        Value::List(items) => items.iter().enumerate().try_for_each(|(index, item)| {
            let child =
                name.child(element(index)).map_err(|error| wrong(item.span.start, error))?;
            add(item, child, keys)
        }),
        _ => {
            keys.append(plain_key(node, name)?);
            Ok(())
        }
    }
}

/// The key of a scalar.
pub(super) fn plain_key(node: &Node, name: KeyName) -> Result<Key, Misfit> {
    let mut key = Key::new(name);
    match plain_text(&node.value) {
        None => key.set_binary(b""),
        Some((text, kind)) => {
            key.set_string(text).map_err(|error| wrong(node.span.start, error))?;
            if let Some(kind) = kind {
                key.set_meta("type", kind).map_err(|error| wrong(node.span.start, error))?;
            }
        }
    }
    Ok(key)
}

/// The key that a member `@` describes.
fn full_key(own: &Node, name: &KeyName) -> Result<Key, Misfit> {
    let Value::Table(..) = own.value else {
        let message = "the member `@` is an object with `value`, `bytes` or `binary`";
        return Err(wrong(own.span.start, message));
    };
    let mut key = Key::new(name.clone());
    for kind in ["value", "bytes", "binary"] {
        if let Some(value) = own.child(kind) {
            set_value(&mut key, kind, value)?;
        }
    }
    for meta in own.child("meta").map(Node::members).unwrap_or_default() {
        let value = text_of(&meta.node, "metadata is text")?;
        key.set_meta(&meta.name, value).map_err(|error| wrong(meta.start, error))?;
    }
    Ok(key)
}

fn set_value(key: &mut Key, kind: &str, value: &Node) -> Result<(), Misfit> {
    let at = value.span.start;
    let text = text_of(value, "`value`, `bytes` and `binary` are text")?;
    let bytes = match kind {
        "value" => text.as_bytes().to_vec(),
        _ => BASE64_STANDARD.decode(text).map_err(|error| wrong(at, error))?,
    };
    if kind == "binary" {
        key.set_binary(bytes);
        return Ok(());
    }
    key.set_string(bytes).map_err(|error| wrong(at, error))
}

fn text_of<'a>(node: &'a Node, otherwise: &str) -> Result<&'a str, Misfit> {
    match &node.value {
        Value::Text(text) => Ok(text),
        _ => Err(wrong(node.span.start, otherwise)),
    }
}

fn wrong(at: usize, message: impl ToString) -> Misfit {
    Misfit { at, message: message.to_string() }
}
