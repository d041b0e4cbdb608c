//! TOML text.

use std::ops::Range;

use toml_edit::{Document, Item, Key, TableLike};

use super::document::{Body, Member, Node, Value};
use super::fault;
use super::literal::is_json_number;
use super::tree::Tree;
use crate::format::ReadError;

pub(super) fn parse(bytes: &[u8]) -> Result<Node, ReadError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| fault("toml", bytes, error.valid_up_to(), "text is not UTF-8"))?;
    let document = Document::parse(text).map_err(|error| {
        fault("toml", bytes, error.span().map_or(0, |span| span.start), error.message())
    })?;
    Ok(table(text, document.as_table(), 0..0))
}

fn table(text: &str, table: &toml_edit::Table, at: Range<usize>) -> Node {
    let body = match (table.is_dotted(), table.is_implicit()) {
        (true, _) => Body::Dotted,
        (false, true) => Body::Implied,
        (false, false) => Body::Lines,
    };
    let members = members(text, table);
    Node { span: table.span().unwrap_or(at), value: Value::Table(members, body) }
}

fn members(text: &str, table: &dyn TableLike) -> Vec<Member> {
    let names = table.iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
    let entries = names.into_iter().filter_map(|name| {
        let (key, item) = table.get_key_value(&name)?;
        let at = key.span().unwrap_or_default();
        Some(Member { start: at.start, node: self::item(text, item, at), name })
    });
    entries.collect()
}

fn item(text: &str, item: &Item, at: Range<usize>) -> Node {
    match item {
        Item::None => Node { span: at, value: Value::Null },
        Item::Value(value) => self::value(text, value, at),
        Item::Table(table) => self::table(text, table, at),
        Item::ArrayOfTables(tables) => {
            let items = tables.iter().map(|table| self::table(text, table, at.clone()));
            Node { span: tables.span().unwrap_or(at.clone()), value: Value::List(items.collect()) }
        }
    }
}

fn value(text: &str, value: &toml_edit::Value, at: Range<usize>) -> Node {
    let span = value.span().unwrap_or(at);
    let written = text.get(span.clone()).unwrap_or_default();
    // As written in the document, to preserve digits; otherwise in JSON syntax.
    let number = |plain: String| match is_json_number(written.as_bytes()) {
        true => written.to_owned(),
        false => plain,
    };
    let value = match value {
        toml_edit::Value::String(text) => Value::Text(text.value().clone()),
        toml_edit::Value::Integer(integer) => Value::Number(number(integer.value().to_string())),
        toml_edit::Value::Float(float) if float.value().is_finite() => {
            Value::Number(number(format!("{:?}", float.value())))
        }
        toml_edit::Value::Float(float) => Value::Other(float.value().to_string()),
        toml_edit::Value::Boolean(boolean) => Value::Bool(*boolean.value()),
        toml_edit::Value::Datetime(time) => Value::Other(time.value().to_string()),
        toml_edit::Value::Array(items) => {
            let items = items.iter().map(|item| self::value(text, item, span.clone()));
            Value::List(items.collect())
        }
        toml_edit::Value::InlineTable(table) => {
            let body = if table.is_dotted() { Body::Dotted } else { Body::Braces };
            Value::Table(members(text, table), body)
        }
    };
    Node { span, value }
}

/// A whole document.
pub(super) fn text(tree: &Tree) -> Vec<u8> {
    let mut document = toml_edit::DocumentMut::new();
    if let Tree::Table(members) = tree {
        fill(document.as_table_mut(), members);
    }
    document.to_string().into_bytes()
}

fn fill(table: &mut toml_edit::Table, members: &[(String, Tree)]) {
    let is_block = |tree: &Tree| matches!(tree, Tree::Table(_));
    for (name, tree) in members {
        let item = match tree {
            Tree::Table(members) => Item::Table(block(members)),
            Tree::List(items) if !items.is_empty() && items.iter().all(is_block) => {
                let blocks = items.iter().map(|item| match item {
                    Tree::Table(members) => block(members),
                    _ => toml_edit::Table::new(),
                });
                Item::ArrayOfTables(blocks.collect())
            }
            other => Item::Value(plain(other)),
        };
        table.insert(name, item);
    }
}

/// A table with a header, which is omitted if it contains nothing but tables.
fn block(members: &[(String, Tree)]) -> toml_edit::Table {
    let mut table = toml_edit::Table::new();
    table.set_implicit(!members.is_empty());
    fill(&mut table, members);
    table
}

fn plain(tree: &Tree) -> toml_edit::Value {
    match tree {
        Tree::Null => "".into(),
        Tree::Bool(boolean) => (*boolean).into(),
        Tree::Number(number) => number.parse().unwrap_or_else(|_| number.into()),
        Tree::Text(text) => text.into(),
        Tree::List(items) => toml_edit::Value::Array(items.iter().map(plain).collect()),
        Tree::Table(members) => {
            let mut table = toml_edit::InlineTable::new();
            for (name, value) in members {
                table.insert(name, plain(value));
            }
            table.into()
        }
    }
}

/// A value on one line, except for multi-line texts.
pub(super) fn inline(tree: &Tree) -> String {
    plain(tree).to_string().trim_matches(' ').to_owned()
}

/// A member of a table, named by several parts.
pub(super) fn member(names: &[String], value: &Tree) -> String {
    format!("{} = {}", dotted(names), inline(value))
}

/// The header of a table.
pub(super) fn header(names: &[String]) -> String {
    format!("[{}]", dotted(names))
}

fn dotted(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| Key::new(name).to_string()).collect();
    names.join(".")
}
