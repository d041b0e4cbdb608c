//! Looking up, listing, creating, moving and copying.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::native::json::{Instant, IntegrityWord, Resource, VersioningWord};
use crate::problem::{Problem, ProblemBody};

/// A resource in a body, by its path or by its id.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Which {
    #[schema(example = "/lab/run7")]
    Path(String),
    Id(u64),
}

/// A resource in a query, by its path or by its id.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Target {
    /// Its path.
    #[param(example = "/lab/run7")]
    pub(crate) path: Option<String>,
    /// Its id, instead.
    pub(crate) id: Option<u64>,
}

/// A name in a collection with an id, instead.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChildQuery {
    /// The id of a collection, instead, with `name`.
    pub(crate) parent: Option<u64>,
    /// The name in that collection.
    pub(crate) name: Option<String>,
}

/// What to tell about a resource.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatQuery {
    /// Tell the tag of the description, too.
    #[serde(default)]
    pub(crate) description_tag: bool,
}

/// A resource, and what the asker may do with it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatAnswer {
    #[serde(flatten)]
    pub(crate) resource: Resource,
    /// What the caller may do with it: one of the ten levels, or rights joined by `+`.
    #[schema(example = "own")]
    pub(crate) level: String,
}

/// Resources to tell about.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatMany {
    #[schema(max_items = 10000)]
    pub(crate) items: Vec<Which>,
}

/// The answers, in the order of the questions.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatManyAnswer {
    pub(crate) items: Vec<Outcome>,
}

/// One answer of many.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    Resource(Box<Resource>),
    Problem(ProblemBody),
}

/// Which part of what is shared.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SharedQuery {
    /// Begin here: a `next` of this route.
    pub(crate) after: Option<String>,
    /// At most this many items.
    #[param(minimum = 1, maximum = 1000)]
    pub(crate) limit: Option<u32>,
}

/// Which part of which listing.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Begin after this name.
    pub(crate) after: Option<String>,
    /// At most this many entries.
    #[param(minimum = 1, maximum = 10000)]
    pub(crate) limit: Option<u32>,
    /// What to tell of each entry besides its attributes, separated by commas: `description`, `xattrs`, `level`. A page ends
    /// earlier where descriptions in it come to more than 4 MiB.
    #[param(example = "description,level")]
    pub(crate) with: Option<String>,
}

/// What a listing tells of each entry besides its attributes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct With {
    pub(crate) description: bool,
    pub(crate) xattrs: bool,
    pub(crate) level: bool,
}

impl With {
    pub(crate) fn read(text: Option<&str>) -> Result<Self, Problem> {
        let mut with = Self::default();
        for word in text.into_iter().flat_map(|text| text.split(',')) {
            match word {
                "description" => with.description = true,
                "xattrs" => with.xattrs = true,
                "level" => with.level = true,
                _ => {
                    let message = format!("`with` does not know {word:.100?}");
                    let hint = "name `description`, `xattrs` or `level`, separated by commas";
                    return Err(Problem::invalid(message).with_hint(hint));
                }
            }
        }
        Ok(with)
    }
}

/// Part of a listing.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Listing {
    pub(crate) collection: Resource,
    /// In the order of the names' bytes.
    pub(crate) entries: Vec<Resource>,
    /// Where the next page begins; null at the end.
    pub(crate) next: Option<String>,
}

/// Where a walk begins.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WalkQuery {
    /// Begin after this path, which lies below the collection, or lay there.
    pub(crate) after: Option<String>,
    /// End after this many lines. If there are fewer, the walk has come to its end.
    #[param(minimum = 1)]
    pub(crate) limit: Option<u32>,
    /// Tell the tag of each description, too.
    #[serde(default)]
    pub(crate) description_tag: bool,
}

/// What to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Create {
    /// Where.
    #[schema(example = "/lab/run7")]
    pub(crate) path: Option<String>,
    /// The id of the collection in which it is made, with `name` instead of `path`.
    pub(crate) parent: Option<u64>,
    /// Its name there.
    pub(crate) name: Option<String>,
    /// What; objects are created by a PUT of their bytes.
    pub(crate) kind: Creatable,
    /// Where a link points.
    pub(crate) target: Option<String>,
    /// Create the collections on the way.
    #[serde(default)]
    pub(crate) parents: bool,
    /// It is no error if the same kind is there already.
    #[serde(default)]
    pub(crate) exist_ok: bool,
    /// Mode bits as in `st_mode & 0o7777`.
    #[schema(maximum = 4095)]
    pub(crate) mode: Option<u32>,
    /// The modification time to show.
    pub(crate) mtime: Option<Instant>,
}

/// A kind without content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Creatable {
    Collection,
    Link,
    Description,
}

/// Where something comes to be: a path, or a name in the collection with an id, wherever that is by then.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Destination {
    #[schema(example = "/lab/run7")]
    Path(String),
    Child(ChildName),
}

/// A name in a collection.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChildName {
    /// The id of the collection.
    pub(crate) parent: u64,
    pub(crate) name: String,
}

/// What to move, and where to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Move {
    pub(crate) from: Which,
    /// Where to.
    pub(crate) to: Destination,
    /// Take the place of what is there.
    #[serde(default)]
    pub(crate) replace: bool,
    /// Create the collections on the way.
    #[serde(default)]
    pub(crate) parents: bool,
    /// The versions of what is replaced may go; without this, what has versions stays.
    #[serde(default)]
    pub(crate) versions: bool,
}

/// What to copy, and where to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Copy {
    pub(crate) from: Which,
    /// Where the copy is made.
    pub(crate) to: Destination,
    /// Give an object that is there the content and description of this one.
    #[serde(default)]
    pub(crate) replace: bool,
    /// Create the collections on the way.
    #[serde(default)]
    pub(crate) parents: bool,
    /// With all that lies below.
    #[serde(default)]
    pub(crate) recursive: bool,
}

/// Whose description to give to what.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CopyDescription {
    /// Has the description.
    pub(crate) from: Which,
    /// Gets it.
    pub(crate) to: Which,
}

/// Attributes to set; what is left out stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetAttributes {
    pub(crate) path: Option<String>,
    pub(crate) id: Option<u64>,
    /// Mode bits as in `st_mode & 0o7777`.
    #[schema(maximum = 4095)]
    pub(crate) mode: Option<u32>,
    /// The modification time to show.
    pub(crate) mtime: Option<Instant>,
    /// The name of the new owner.
    pub(crate) owner: Option<String>,
    /// The media type of the content. If it is empty, none is known until the content is replaced; then it is guessed.
    pub(crate) media_type: Option<String>,
    /// What becomes of replaced states of this collection, and of what is below it.
    pub(crate) versioning: Option<VersioningWord>,
    /// How many versions of a resource are kept, the newest, besides those with a label. Without any rule all are.
    pub(crate) keep: Option<u32>,
    /// Besides, the newest version of each of so many days that have one, in UTC.
    pub(crate) keep_daily: Option<u32>,
    /// The same of weeks.
    pub(crate) keep_weekly: Option<u32>,
    /// The same of months.
    pub(crate) keep_monthly: Option<u32>,
    /// For how many seconds what is removed below this collection is kept in the trash; 0 for not at all.
    pub(crate) keep_removed: Option<u64>,
    /// How many bytes of what is removed below this collection are kept at most, the newest; `null` lifts the limit.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<u64>)]
    pub(crate) keep_removed_bytes: Option<Option<u64>>,
    /// What becomes of a statement, in a description of this collection or below it, that links to a path where nothing is.
    pub(crate) link_integrity: Option<IntegrityWord>,
}

/// A value that is there, `null` among them: what is left out is none.
fn or_null<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Option<u64>>, D::Error> {
    Option::deserialize(value).map(Some)
}
