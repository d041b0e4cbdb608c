//! The input of a call: JSON, whose members are looked up by name and type. Unknown members are ignored.

use serde_json::{Map, Value};

use super::fault::{ErrorType, Fault};

/// The input, or an object in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input<'a>(&'a Map<String, Value>);

/// Reads a body: no bytes are an empty object.
pub(crate) fn parse(body: &[u8]) -> Result<Value, Fault> {
    if body.is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    serde_json::from_slice(body)
        .map_err(|error| Fault::new(ErrorType::MalformedJson, format!("not JSON: {error}")))
}

impl<'a> Input<'a> {
    pub(crate) fn of(value: &'a Value) -> Result<Self, Fault> {
        value.as_object().map(Self).ok_or_else(|| Fault::input("the input is not an object"))
    }

    pub(crate) fn members(self) -> &'a Map<String, Value> {
        self.0
    }

    /// A member; null counts as none.
    pub(crate) fn value(self, key: &str) -> Option<&'a Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    pub(crate) fn text(self, key: &str) -> Result<Option<&'a str>, Fault> {
        self.typed(key, "a string", Value::as_str)
    }

    pub(crate) fn need(self, key: &str) -> Result<&'a str, Fault> {
        self.text(key)?.ok_or_else(|| Fault::input(format!("\"{key}\" is missing")))
    }

    pub(crate) fn flag(self, key: &str) -> Result<Option<bool>, Fault> {
        self.typed(key, "a boolean", Value::as_bool)
    }

    /// Whether a flag is present and set.
    pub(crate) fn is(self, key: &str) -> Result<bool, Fault> {
        Ok(self.flag(key)?.unwrap_or(false))
    }

    pub(crate) fn count(self, key: &str) -> Result<Option<u64>, Fault> {
        self.typed(key, "a non-negative integer", Value::as_u64)
    }

    pub(crate) fn integer(self, key: &str) -> Result<Option<i64>, Fault> {
        self.typed(key, "an integer", Value::as_i64)
    }

    pub(crate) fn list(self, key: &str) -> Result<Option<&'a [Value]>, Fault> {
        self.typed(key, "an array", |value| value.as_array().map(Vec::as_slice))
    }

    pub(crate) fn object(self, key: &str) -> Result<Option<Input<'a>>, Fault> {
        self.typed(key, "an object", |value| value.as_object().map(Input))
    }

    /// An array of strings.
    pub(crate) fn texts(self, key: &str) -> Result<Option<Vec<&'a str>>, Fault> {
        let Some(list) = self.list(key)? else { return Ok(None) };
        let texts = list.iter().map(Value::as_str).collect::<Option<Vec<_>>>();
        texts.map(Some).ok_or_else(|| Fault::input(format!("\"{key}\" is not an array of strings")))
    }

    /// The same; none is an empty one.
    pub(crate) fn all_texts(self, key: &str) -> Result<Vec<&'a str>, Fault> {
        Ok(self.texts(key)?.unwrap_or_default())
    }

    fn typed<T>(
        self,
        key: &str,
        what: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let Some(value) = self.value(key) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| Fault::input(format!("\"{key}\" is not {what}")))
    }
}
