//! Which members of a description a caller wants.
//!
//! `fields` names exactly these (and the id is always there), unless `defaultFields` is set, too; `properties`, `details` and
//! the like beside it are added to the default ones.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::call::fault::Fault;
use super::call::input::Input;

/// The members to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fields {
    default: bool,
    named: BTreeSet<String>,
}

/// The meaning of `true`.
impl Default for Fields {
    fn default() -> Self {
        Self { default: true, named: BTreeSet::new() }
    }
}

/// The words that add a member to the default ones.
const ADDED: [&str; 6] = ["properties", "details", "parts", "folders", "permissions", "nonce"];

impl Fields {
    /// From the input of a call of `describe`.
    pub(crate) fn of(input: Input<'_>) -> Result<Self, Fault> {
        let Some(fields) = input.object("fields")? else {
            let named = ADDED.into_iter().filter(|word| is_true(input.value(word)));
            return Ok(Self { default: true, named: named.map(str::to_owned).collect() });
        };
        let named = fields.members().iter().filter(|(_, wanted)| is_true(Some(wanted)));
        let named = named.map(|(name, _)| name.clone()).collect();
        Ok(Self { default: input.is("defaultFields")?, named })
    }

    /// From the member `describe` of another call: whether to describe, and how.
    pub(crate) fn member(value: Option<&Value>) -> Result<Option<Self>, Fault> {
        match value {
            None | Some(Value::Null | Value::Bool(false)) => Ok(None),
            Some(Value::Bool(true)) => Ok(Some(Self::default())),
            Some(Value::Object(members)) => {
                Self::of(Input::of(&Value::Object(members.clone()))?).map(Some)
            }
            Some(_) => Err(Fault::input("\"describe\" is neither a boolean nor an object")),
        }
    }

    fn wants(&self, name: &str) -> bool {
        self.named.contains(name)
    }
}

fn is_true(value: Option<&Value>) -> bool {
    value == Some(&Value::Bool(true))
}

/// A description that is being written.
#[derive(Debug)]
pub(crate) struct Description<'a> {
    fields: &'a Fields,
    members: Map<String, Value>,
}

impl<'a> Description<'a> {
    pub(crate) fn new(fields: &'a Fields, id: impl std::fmt::Display) -> Self {
        Self { fields, members: Map::from_iter([("id".to_owned(), id.to_string().into())]) }
    }

    /// A member that is shown unless others are named.
    pub(crate) fn usual(&mut self, name: &str, value: impl Into<Value>) {
        if self.fields.default || self.fields.wants(name) {
            self.members.insert(name.to_owned(), value.into());
        }
    }

    /// Whether a member is named that is shown only then.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.fields.wants(name)
    }

    /// Whether a member that is usual is shown.
    pub(crate) fn shows(&self, name: &str) -> bool {
        self.fields.default || self.fields.wants(name)
    }

    /// A member that is shown only if it is named.
    pub(crate) fn special(
        &mut self,
        name: &str,
        value: impl FnOnce() -> Result<Value, Fault>,
    ) -> Result<(), Fault> {
        if self.wants(name) {
            self.members.insert(name.to_owned(), value()?);
        }
        Ok(())
    }

    /// A member that is shown for another reason.
    pub(crate) fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.members.insert(name.to_owned(), value.into());
    }

    pub(crate) fn finish(self) -> Value {
        Value::Object(self.members)
    }
}
