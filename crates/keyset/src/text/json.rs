//! JSON text.

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::document::{Body, Member, Node, Value};
use super::fault;
use super::tree::Tree;
use crate::format::ReadError;

/// Strict JSON.
const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn parse(bytes: &[u8]) -> Result<Node, ReadError> {
    // `serde_json` decides what is valid JSON, and how deep it may be; `jsonc_parser` provides the position of each
    // value.
    serde_json::from_slice::<serde_json::Value>(bytes)
        .map_err(|error| fault("json", bytes, offset(bytes, &error), reason(&error)))?;
    let text = std::str::from_utf8(bytes)
        .map_err(|error| fault("json", bytes, error.valid_up_to(), "text is not UTF-8"))?;
    let parsed = parse_to_ast(text, &CollectOptions::default(), &STRICT);
    let parsed = parsed.map_err(|error| fault("json", bytes, error.range().start, error.kind()))?;
    parsed.value.map(node).ok_or_else(|| fault("json", bytes, 0, "there is no value"))
}

fn node(value: ast::Value<'_>) -> Node {
    let range = value.range();
    let value = match value {
        ast::Value::StringLit(text) => Value::Text(text.value.into_owned()),
        ast::Value::NumberLit(number) => Value::Number(number.value.to_owned()),
        ast::Value::BooleanLit(boolean) => Value::Bool(boolean.value),
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::Array(array) => Value::List(array.elements.into_iter().map(node).collect()),
        ast::Value::Object(object) => {
            let members = object.properties.into_iter().map(|member| Member {
                start: member.range.start,
                name: member.name.into_string(),
                node: node(member.value),
            });
            Value::Table(members.collect(), Body::Braces)
        }
    };
    Node { span: range.start..range.end, value }
}

/// A whole document.
pub(super) fn text(tree: &Tree) -> Vec<u8> {
    let mut text = String::new();
    pretty(tree, 0, &mut text);
    text.push('\n');
    text.into_bytes()
}

/// A value on several lines, indented by `depth` levels.
fn pretty(tree: &Tree, depth: usize, out: &mut String) {
    let (open, close, items): (_, _, Vec<(String, &Tree)>) = match tree {
        Tree::List(items) if !items.is_empty() => {
            ('[', ']', items.iter().map(|item| (String::new(), item)).collect())
        }
        Tree::Table(members) if !members.is_empty() => {
            let label = |name: &str| format!("{}: ", quoted(name));
            ('{', '}', members.iter().map(|(name, item)| (label(name), item)).collect())
        }
        plain => return out.push_str(&inline(plain)),
    };
    let indent = |depth: usize| format!("\n{}", "  ".repeat(depth));
    out.push(open);
    for (at, (label, item)) in items.into_iter().enumerate() {
        out.push_str(if at == 0 { "" } else { "," });
        out.push_str(&indent(depth + 1));
        out.push_str(&label);
        pretty(item, depth + 1, out);
    }
    out.push_str(&indent(depth));
    out.push(close);
}

/// A value on one line.
pub(super) fn inline(tree: &Tree) -> String {
    match tree {
        Tree::Null => "null".into(),
        Tree::Bool(boolean) => boolean.to_string(),
        Tree::Number(number) => number.clone(),
        Tree::Text(text) => quoted(text),
        Tree::List(items) => {
            let items: Vec<_> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Tree::Table(members) => {
            let members: Vec<_> = members.iter().map(|(name, value)| member(name, value)).collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

/// A member of an object.
pub(super) fn member(name: &str, value: &Tree) -> String {
    format!("{}: {}", quoted(name), inline(value))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The offset in the text for the line and column of an error.
fn offset(bytes: &[u8], error: &serde_json::Error) -> usize {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let before: usize = lines.take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
    (before + error.column().saturating_sub(1)).min(bytes.len())
}

/// The error message without the position.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}
