//! Descriptions, and the search over them.

use cenote_store::{Avu, Result, Stat, Store};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::native::json::{KindWord, Names, Resource};

/// One statement about a resource.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Attribute {
    #[schema(example = "temperature")]
    pub(crate) attribute: String,
    #[schema(example = "300")]
    pub(crate) value: String,
    #[schema(example = "K")]
    pub(crate) unit: Option<String>,
}

impl From<Avu> for Attribute {
    fn from(avu: Avu) -> Self {
        let Avu { attribute, value, unit } = avu;
        Self { attribute, value, unit }
    }
}

/// A description, as attributes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Description {
    pub(crate) items: Vec<Attribute>,
}

/// Changes of a description: all of them or none.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Describe {
    pub(crate) path: Option<String>,
    pub(crate) id: Option<u64>,
    pub(crate) operations: Vec<Operation>,
}

/// One change of a description.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Operation {
    pub(crate) op: Op,
    #[schema(min_length = 1, example = "temperature")]
    pub(crate) attribute: String,
    /// Omitted only for `clear`. The path of the other resource, for `link`.
    pub(crate) value: Option<String>,
    pub(crate) unit: Option<String>,
}

/// What to do with an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Op {
    /// Add a value; it is not an error if it exists already.
    Add,
    /// Remove this value; it is not an error if it does not exist.
    Remove,
    /// Replace all values with this one.
    Set,
    /// Remove all values.
    Clear,
    /// Add a link to another resource; it is not an error if it exists already.
    Link,
}

/// A search; all conditions must hold.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    /// Only below this collection; by default below the root.
    #[schema(default = "/", example = "/lab")]
    pub(crate) under: Option<String>,
    /// Its id, instead of the path.
    pub(crate) id: Option<u64>,
    /// Conditions on attributes.
    #[serde(default, rename = "where")]
    pub(crate) conditions: Vec<Where>,
    /// A shell pattern for the name.
    #[schema(example = "*.gsd")]
    pub(crate) name: Option<String>,
    pub(crate) kind: Option<KindWord>,
    /// Words in the name or the description; `word*` for how one begins, `"some words"` for a phrase.
    #[schema(example = "temperature box*")]
    pub(crate) text: Option<String>,
    /// Where a page continues: `next` of the one before, of the same search.
    pub(crate) after: Option<String>,
    /// At most this many.
    #[schema(minimum = 1, maximum = 10000)]
    pub(crate) limit: Option<u32>,
}

/// A condition on an attribute.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Where {
    pub(crate) attribute: String,
    #[serde(default)]
    pub(crate) op: Compare,
    /// Omitted only for `exists`.
    pub(crate) value: Option<String>,
    /// Only values with this unit.
    pub(crate) unit: Option<String>,
}

/// How values are compared: as numbers or as times (ISO 8601) if both are, otherwise as text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
pub(crate) enum Compare {
    #[default]
    #[serde(rename = "=")]
    Equal,
    #[serde(rename = "!=")]
    NotEqual,
    #[serde(rename = "<")]
    Less,
    #[serde(rename = "<=")]
    LessOrEqual,
    #[serde(rename = ">")]
    Greater,
    #[serde(rename = ">=")]
    GreaterOrEqual,
    /// A pattern of `%` (anything) and `_` (one character).
    #[serde(rename = "like")]
    Like,
    #[serde(rename = "exists")]
    Exists,
}

/// A page of results, by path. It can have no items although there is a next one.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Found {
    pub(crate) items: Vec<Resource>,
    /// Where the next page begins; null at the end.
    pub(crate) next: Option<String>,
}

impl Found {
    pub(crate) fn new(store: &Store, items: &[Stat], next: Option<String>) -> Result<Self> {
        let mut names = Names::new(store);
        names.read_memberships(items)?;
        let items = items.iter().map(|stat| Resource::of(stat, &mut names));
        Ok(Self { items: items.collect::<Result<_>>()?, next })
    }
}
