//! Converts between one key and a JSON or TOML value.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::document::Value;
use super::tree::Tree;
use crate::format::Format;
use crate::key::KeyRef;
use crate::meta::BINARY;
use crate::value::ValueRef;

/// Which spellings of a value are accepted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// Only the one that parses to this very key.
    Exact,
    /// Any spelling that a person may use for it: `true` for `1`, `2` for a double.
    Free,
}

/// The key as a value that other programs understand; `None` if it needs a member `@`.
pub(super) fn literal(key: KeyRef<'_>, format: Format, spelling: Spelling) -> Option<Tree> {
    let metas: Vec<_> = key.meta().filter(|meta| !is_binary_mark(meta.name, meta.value)).collect();
    let kind = match &metas[..] {
        [] => None,
        [meta] if meta.name == b"type" => Some(meta.value),
        _ => return None,
    };
    match (key.value(), kind) {
        (ValueRef::Null, None) if format == Format::Json => Some(Tree::Null),
        (ValueRef::String(value), None) => Some(Tree::Text(text(value)?)),
        (ValueRef::String(value), Some(b"boolean")) => truth(value, spelling).map(Tree::Bool),
        (ValueRef::String(value), Some(kind @ (b"long" | b"double"))) => {
            let number = text(value).filter(|text| has_number(format, text))?;
            let fits = number_type(&number).as_bytes() == kind
                || (spelling == Spelling::Free && format == Format::Json);
            fits.then_some(Tree::Number(number))
        }
        _ => None,
    }
}

/// Whether the only metakey is a type for which the formats have values.
pub(super) fn has_plain_type(key: KeyRef<'_>) -> bool {
    let types: [&[u8]; 3] = [b"boolean", b"long", b"double"];
    key.meta().len() == 1 && key.meta_value("type").is_some_and(|kind| types.contains(&kind))
}

/// The content of the member `@` for a key; `None` if its metadata is not UTF-8.
pub(super) fn full(key: KeyRef<'_>) -> Option<Tree> {
    let metas = key.meta().filter(|meta| !is_binary_mark(meta.name, meta.value));
    let metas = metas.map(|meta| Some((text(meta.name)?, Tree::Text(text(meta.value)?))));
    let metas = metas.collect::<Option<Vec<_>>>()?;
    let (member, value) = match key.value() {
        ValueRef::String(value) => match text(value) {
            Some(text) => ("value", text),
            None => ("bytes", BASE64_STANDARD.encode(value)),
        },
        value => ("binary", BASE64_STANDARD.encode(value.as_bytes())),
    };
    let mut full = vec![(member.to_owned(), Tree::Text(value))];
    if !metas.is_empty() {
        full.push(("meta".to_owned(), Tree::Table(metas)));
    }
    Some(Tree::Table(full))
}

/// The text of a scalar, and its type.
pub(super) fn plain_text(value: &Value) -> Option<(&str, Option<&'static str>)> {
    Some(match value {
        Value::Bool(true) => ("1", Some("boolean")),
        Value::Bool(false) => ("0", Some("boolean")),
        Value::Number(number) => (number, Some(number_type(number))),
        Value::Text(text) | Value::Other(text) => (text, None),
        Value::Null | Value::List(_) | Value::Table(..) => return None,
    })
}

/// The boolean for a text.
pub(super) fn truth(text: &[u8], spelling: Spelling) -> Option<bool> {
    match text {
        b"1" => Some(true),
        b"0" => Some(false),
        b"true" if spelling == Spelling::Free => Some(true),
        b"false" if spelling == Spelling::Free => Some(false),
        _ => None,
    }
}

fn number_type(text: &str) -> &'static str {
    if text.contains(['.', 'e', 'E']) { "double" } else { "long" }
}

/// Whether the format can represent this number, and reads it as this text.
fn has_number(format: Format, text: &str) -> bool {
    is_json_number(text.as_bytes())
        && (format == Format::Json
            || text.parse::<toml_edit::Value>().is_ok_and(|value| {
                value.as_integer().is_some() || value.as_float().is_some_and(f64::is_finite)
            }))
}

/// Whether this is a number in JSON's grammar.
pub(super) fn is_json_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest[0] == b'0') {
        return false;
    }
    rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let len = digits(fraction);
        if len == 0 {
            return false;
        }
        rest = &fraction[len..];
    }
    match rest {
        [] => true,
        [b'e' | b'E', b'+' | b'-', rest @ ..] | [b'e' | b'E', rest @ ..] => {
            !rest.is_empty() && digits(rest) == rest.len()
        }
        _ => false,
    }
}

fn is_binary_mark(name: &[u8], value: &[u8]) -> bool {
    name == BINARY && value.is_empty()
}

fn text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::is_json_number;

    proptest! {
        #[test]
        fn numbers_are_those_of_json(text in "-?[0-9]{0,3}[.]?[0-9]{0,2}([eE][+-]?[0-9]{0,2})?") {
            let parsed = serde_json::from_str::<serde_json::Value>(&text);
            prop_assert_eq!(is_json_number(text.as_bytes()), parsed.is_ok_and(|value| value.is_number()));
        }
    }
}
