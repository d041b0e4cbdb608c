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
    /// Its id, instead of the path.
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

/// What to return for a resource.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatQuery {
    /// Also return the tag of the description.
    #[serde(default)]
    pub(crate) description_tag: bool,
}

/// A resource, and the rights of the caller.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatAnswer {
    #[serde(flatten)]
    pub(crate) resource: Resource,
    /// The rights of the caller: one of the ten levels, or rights joined by `+`.
    #[schema(example = "own")]
    pub(crate) level: String,
}

/// The resources to return.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatMany {
    #[schema(max_items = 10000)]
    pub(crate) items: Vec<Which>,
}

/// The answers, in the order of the request.
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

/// A page of shared resources.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SharedQuery {
    /// The cursor to begin at: a `next` of this route.
    pub(crate) after: Option<String>,
    /// At most this many items.
    #[param(minimum = 1, maximum = 1000)]
    pub(crate) limit: Option<u32>,
}

/// A page of a listing.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Begin after this name.
    pub(crate) after: Option<String>,
    /// At most this many entries.
    #[param(minimum = 1, maximum = 10000)]
    pub(crate) limit: Option<u32>,
    /// What to include for each entry in addition to its attributes, separated by commas: `description`, `xattrs`, `level`. A page ends
    /// earlier if its descriptions add up to more than 4 MiB.
    #[param(example = "description,level")]
    pub(crate) with: Option<String>,
}

/// Where a brief listing begins.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct BriefQuery {
    /// Begin after this name.
    pub(crate) after: Option<String>,
    /// End after this many lines. If there are fewer, the listing is complete.
    #[param(minimum = 1)]
    pub(crate) limit: Option<u32>,
}

/// What a listing includes for each entry in addition to its attributes.
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
                    let message = format!("`with` has an unknown value: {word:.100?}");
                    let hint = "give `description`, `xattrs` or `level`, separated by commas";
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
    /// Begin after this path, which is or was below the collection.
    pub(crate) after: Option<String>,
    /// End after this many lines. If there are fewer, the walk is complete.
    #[param(minimum = 1)]
    pub(crate) limit: Option<u32>,
    /// Also return the tag of each description.
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
    /// The id of its collection, with `name`, instead of `path`.
    pub(crate) parent: Option<u64>,
    /// Its name there.
    pub(crate) name: Option<String>,
    /// The kind; objects are created by a PUT of their bytes.
    pub(crate) kind: Creatable,
    /// The target of a link.
    pub(crate) target: Option<String>,
    /// Create missing parent collections.
    #[serde(default)]
    pub(crate) parents: bool,
    /// Do not fail if a resource of the same kind already exists.
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

/// The target of an operation: a path, or a name in a collection with an id, wherever that is by then.
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

/// The resource to move, and the target.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Move {
    pub(crate) from: Which,
    /// The target.
    pub(crate) to: Destination,
    /// Replace an existing resource.
    #[serde(default)]
    pub(crate) replace: bool,
    /// Create missing parent collections.
    #[serde(default)]
    pub(crate) parents: bool,
    /// Also remove the versions of the replaced resource; otherwise a resource with versions is not replaced.
    #[serde(default)]
    pub(crate) versions: bool,
}

/// The resource to copy, and the target.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Copy {
    pub(crate) from: Which,
    /// The target of the copy.
    pub(crate) to: Destination,
    /// Replace the content and description of an existing object.
    #[serde(default)]
    pub(crate) replace: bool,
    /// Create missing parent collections.
    #[serde(default)]
    pub(crate) parents: bool,
    /// With everything below.
    #[serde(default)]
    pub(crate) recursive: bool,
}

/// The source and target of a description.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CopyDescription {
    /// The source.
    pub(crate) from: Which,
    /// The target.
    pub(crate) to: Which,
}

/// Attributes to set; missing ones are not changed.
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
    /// What happens to replaced states of this collection, and of everything below it.
    pub(crate) versioning: Option<VersioningWord>,
    /// The number of newest versions of a resource to keep, in addition to those with a label. Without any rule all are kept.
    pub(crate) keep: Option<u32>,
    /// In addition, the newest version of each of this many days that have one, in UTC.
    pub(crate) keep_daily: Option<u32>,
    /// The same for weeks.
    pub(crate) keep_weekly: Option<u32>,
    /// The same for months.
    pub(crate) keep_monthly: Option<u32>,
    /// For how many seconds resources removed below this collection are kept in the trash; 0 for not at all.
    pub(crate) keep_removed: Option<u64>,
    /// The maximum number of bytes of resources removed below this collection to keep, the newest first; `null` removes the limit.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<u64>)]
    pub(crate) keep_removed_bytes: Option<Option<u64>>,
    /// What happens to a statement that links to a missing path, in descriptions of this collection and below it.
    pub(crate) link_integrity: Option<IntegrityWord>,
}

/// A value that is present, including `null`; a missing one is `None`.
fn or_null<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Option<u64>>, D::Error> {
    Option::deserialize(value).map(Some)
}
