//! TOML text.

use serde_json::Value;

use super::fault;
use crate::format::{ReadError, WriteError};

pub(super) fn parse(bytes: &[u8]) -> Result<Value, ReadError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| fault("toml", error.valid_up_to(), "text is not UTF-8"))?;
    let table: toml::Table = toml::from_str(text).map_err(|error| {
        fault("toml", error.span().map_or(0, |span| span.start), error.message())
    })?;
    Ok(value(toml::Value::Table(table)))
}

pub(super) fn text(value: &Value) -> Result<Vec<u8>, WriteError> {
    let text = toml::to_string_pretty(value).map_err(std::io::Error::other)?;
    Ok(text.into_bytes())
}

/// The same in the terms of JSON; times become strings.
fn value(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => serde_json::Number::from_f64(number)
            .map_or_else(|| Value::String(number.to_string()), Value::Number),
        toml::Value::Boolean(boolean) => boolean.into(),
        toml::Value::Datetime(time) => Value::String(time.to_string()),
        toml::Value::Array(items) => items.into_iter().map(self::value).collect(),
        toml::Value::Table(table) => {
            Value::Object(table.into_iter().map(|(name, item)| (name, self::value(item))).collect())
        }
    }
}
