//! Tags and properties: views of the description, as the table of `metadata::vocabulary` in the store has them.

use std::collections::BTreeMap;

use cenote_store::{At, Avu, AvuChange, Conditions, ResourceId};
use serde_json::Value;

use super::call::fault::Fault;
use super::call::input::Input;
use super::call::question::Call;

/// The attribute of a tag.
pub(crate) const TAG: &str = "cenote:tag";
/// The longest tag or key, and the longest value of a property, in bytes.
const LONGEST_KEY: usize = 255;
const LONGEST_VALUE: usize = 4_096;

/// The tags among attributes, in their order.
pub(crate) fn tags(avus: &[Avu]) -> Vec<&str> {
    avus.iter().filter(|avu| avu.attribute == TAG).map(|avu| avu.value.as_str()).collect()
}

/// The properties among attributes: of several values the first, as in every view that has one.
pub(crate) fn properties(avus: &[Avu]) -> BTreeMap<&str, &str> {
    let mut properties = BTreeMap::new();
    for avu in avus.iter().filter(|avu| avu.attribute != TAG) {
        properties.entry(avu.attribute.as_str()).or_insert(avu.value.as_str());
    }
    properties
}

/// The changes that give something new the tags and properties of an input.
pub(crate) fn initial(input: Input<'_>) -> Result<Vec<AvuChange>, Fault> {
    let mut changes = tagged(input, AvuChange::Add)?;
    changes.extend(set(input)?);
    Ok(changes)
}

/// Tags to add.
pub(crate) fn add_tags(input: Input<'_>) -> Result<Vec<AvuChange>, Fault> {
    need(input, "tags")?;
    tagged(input, AvuChange::Add)
}

/// Tags to remove.
pub(crate) fn remove_tags(input: Input<'_>) -> Result<Vec<AvuChange>, Fault> {
    need(input, "tags")?;
    tagged(input, AvuChange::Remove)
}

/// Properties to set, or to remove where they are null.
pub(crate) fn set_properties(input: Input<'_>) -> Result<Vec<AvuChange>, Fault> {
    need(input, "properties")?;
    set(input)
}

fn need(input: Input<'_>, key: &str) -> Result<(), Fault> {
    input.value(key).map(|_| ()).ok_or_else(|| Fault::input(format!("\"{key}\" is missing")))
}

fn tagged(input: Input<'_>, change: fn(Avu) -> AvuChange) -> Result<Vec<AvuChange>, Fault> {
    let tag = |tag: &str| Ok(change(avu(TAG, within(tag, LONGEST_KEY)?)));
    input.all_texts("tags")?.into_iter().map(tag).collect()
}

fn set(input: Input<'_>) -> Result<Vec<AvuChange>, Fault> {
    let Some(properties) = input.object("properties")? else { return Ok(Vec::new()) };
    let change = |(key, value): (&String, &Value)| {
        let key = within(key, LONGEST_KEY)?;
        match value {
            _ if key == TAG => {
                Err(Fault::input("a property cannot have the name that is reserved for tags"))
            }
            Value::Null => Ok(AvuChange::Clear(key.to_owned())),
            Value::String(value) if value.len() <= LONGEST_VALUE => {
                Ok(AvuChange::Set(avu(key, value)))
            }
            Value::String(_) => Err(Fault::input("a value of a property has at most 4,096 bytes")),
            _ => Err(Fault::input(format!("the property {key:.64?} is neither a string nor null"))),
        }
    };
    properties.members().iter().map(change).collect()
}

fn within(text: &str, longest: usize) -> Result<&str, Fault> {
    match text.is_empty() || text.len() > longest {
        true => Err(Fault::input(format!("a tag or key has 1 to {longest} bytes"))),
        false => Ok(text),
    }
}

fn avu(attribute: &str, value: &str) -> Avu {
    Avu { attribute: attribute.to_owned(), value: value.to_owned(), unit: None }
}

impl Call {
    /// Changes the description of a resource.
    pub(crate) fn describe_as(&self, id: ResourceId, changes: &[AvuChange]) -> Result<(), Fault> {
        if !changes.is_empty() {
            let conditions = Conditions::default();
            self.store().change_avus(&self.caller, &At::Id(id), changes, &conditions)?;
        }
        Ok(())
    }
}
