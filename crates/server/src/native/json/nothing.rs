//! The body of a POST without parameters.

use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// An empty object.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, try_from = "Map<String, Value>")]
pub(crate) struct Nothing {}

impl TryFrom<Map<String, Value>> for Nothing {
    type Error = String;

    // The derived implementation would also accept an empty array.
    fn try_from(object: Map<String, Value>) -> Result<Self, String> {
        match object.keys().next() {
            None => Ok(Self {}),
            Some(field) => Err(format!("unknown field `{field}`, there are no fields")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Nothing;

    #[test]
    fn only_an_empty_object_is_nothing() {
        let read = |text| serde_json::from_str::<Nothing>(text).is_ok();
        assert!(read("{}"));
        assert!(["[]", "null", r#"{"a":1}"#, "0"].iter().all(|text| !read(text)));
    }
}
