//! Descriptions, and searches over them.

use serde::{Deserialize, Serialize};

use crate::{Resource, ResourceKind};

/// One statement about a resource: attribute, value and unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Avu {
    /// The attribute.
    pub attribute: String,
    /// The value.
    pub value: String,
    /// The unit.
    pub unit: Option<String>,
}

/// A change of a description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum MetaOperation {
    /// Adds a statement.
    Add(Avu),
    /// Removes a statement.
    Remove(Avu),
    /// Replaces every value of the attribute.
    Set(Avu),
    /// Adds a link to the resource at a path, which is the value.
    Link(Avu),
}

/// A search; a result satisfies all conditions given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Search {
    /// The collection to search below.
    pub under: String,
    /// Conditions on the description.
    pub r#where: Vec<Condition>,
    /// A name pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The required kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ResourceKind>,
    /// Words that the name or the description must have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A resource whose description links to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinksFrom {
    /// The resource.
    pub resource: Resource,
    /// Its linking statements.
    pub links: Vec<Link>,
}

/// A statement that is a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Its subject, if that is not the resource itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The attribute.
    pub attribute: String,
    /// The IRI of the other resource, or of a part of it.
    pub value: String,
}

/// A condition on a description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// The attribute.
    pub attribute: String,
    /// `=`, `!=`, `<`, `<=`, `>`, `>=`, `like` or `exists`.
    pub op: String,
    /// The value to compare with; unused for `exists`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}
