//! The types of the native opening as plain data: what `docs/native-api.md` shows in JSON.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Xattr;

/// Identifies a resource: the current one at a path, or the one with an id, wherever it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum At {
    /// By its absolute path.
    Path(String),
    /// By its id.
    Id(u64),
}

impl From<&str> for At {
    fn from(path: &str) -> Self {
        Self::Path(path.to_owned())
    }
}

impl From<u64> for At {
    fn from(id: u64) -> Self {
        Self::Id(id)
    }
}

impl From<&At> for At {
    fn from(at: &At) -> Self {
        at.clone()
    }
}

impl From<&String> for At {
    fn from(path: &String) -> Self {
        Self::Path(path.clone())
    }
}

/// The kind of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResourceKind {
    /// Has children and no content.
    Collection,
    /// Has content.
    Object,
    /// Points to a path.
    Link,
    /// Has a description only.
    Description,
}

/// The attributes of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// Its id, which is never reused.
    pub id: u64,
    /// Its path.
    pub path: String,
    /// Its name; empty or absent for the root.
    pub name: Option<String>,
    /// Its kind.
    pub kind: ResourceKind,
    /// The size of its content in bytes.
    pub size: Option<u64>,
    /// The SHA-256 of its content in hexadecimal, if it is known.
    pub sha256: Option<String>,
    /// The CRC-64/NVME of its content in hexadecimal, if it is known.
    pub crc64nvme: Option<String>,
    /// The MD5 of its content in hexadecimal, if it is known.
    pub md5: Option<String>,
    /// The media type of its content.
    pub media_type: Option<String>,
    /// Whether the media type was guessed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub media_type_guessed: bool,
    /// The tag of the content, for `If-Match`.
    pub etag: Option<String>,
    /// The tag of the description, for `If-Match` when the description is changed.
    #[serde(default)]
    pub description_etag: Option<String>,
    /// The tag of the membership of a collection.
    #[serde(default)]
    pub members_etag: Option<String>,
    /// The tag of the state, which changes with every change of content, description or access.
    pub state: Option<String>,
    /// Its owner.
    pub owner: Option<String>,
    /// When it was created.
    pub created: Option<Timestamp>,
    /// Who created it.
    pub created_by: Option<String>,
    /// When its content, description or access last changed.
    pub modified: Option<Timestamp>,
    /// Who made that change.
    pub modified_by: Option<String>,
    /// When its content last changed.
    #[serde(default)]
    pub content_modified: Option<Timestamp>,
    /// When its description last changed.
    #[serde(default)]
    pub description_modified: Option<Timestamp>,
    /// When the membership of a collection last changed.
    #[serde(default)]
    pub members_modified: Option<Timestamp>,
    /// Mode bits as in `st_mode & 0o7777`.
    pub mode: Option<u32>,
    /// The modification time that a client set.
    pub mtime: Option<Timestamp>,
    /// Where it points, for a link.
    pub target: Option<String>,
    /// What happens to replaced contents below it.
    pub versioning: Option<serde_json::Value>,
    /// How long removed resources below are kept in the trash, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_removed: Option<u64>,
    /// What is required of links in descriptions: `none`, `lenient` or `strict`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_integrity: Option<String>,
    /// What the caller may do, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// The tag of its description, if requested and if there is one: descriptions are the same if and only if their
    /// tags are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description_tag: Option<String>,
    /// Its description, if requested for a listing; `None` if it is large, or may not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Vec<Avu>>,
    /// Its extended attributes, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xattrs: Option<Vec<Xattr>>,
}

/// A page of a collection.
#[derive(Debug, Clone, Deserialize)]
pub struct Listing {
    /// The collection itself.
    pub collection: Resource,
    /// Its children, in the order of the names' bytes.
    pub entries: Vec<Resource>,
    /// Where the next page starts; `None` after the last.
    pub next: Option<String>,
}

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

/// An entry of an access list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// A user or a group.
    pub name: String,
    /// What they may do.
    pub level: String,
    /// The scope of the entry: `this`, `default` or `subtree`.
    pub scope: String,
    /// The resource that the entry is on, if not this one.
    pub from: Option<String>,
}

/// Who may do what with a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The effective entries, including inherited ones.
    pub grants: Vec<Grant>,
    /// Defaults of the collections above are not applied.
    pub closed: bool,
    /// New children get a copy of the entries on this collection.
    pub inherit: bool,
}

/// What a user may do with a resource, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainedAccess {
    /// The user.
    pub user: String,
    /// The path of the resource.
    pub path: String,
    /// What they may do: a level, or rights joined by `+`.
    pub level: String,
    /// All rights.
    pub rights: Vec<ExplainedRight>,
    /// Access list entries for the user that grant nothing here.
    pub without_effect: Vec<AccessReason>,
    /// What the caller's token leaves of these rights, if they use one.
    pub token: Option<String>,
}

/// Whether a user has a right, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainedRight {
    /// The right.
    pub right: String,
    /// Whether the user has it. If something grants it but this is false, the caller's token withholds it.
    pub granted: bool,
    /// What grants it.
    pub by: Vec<AccessReason>,
}

/// Something that affects what a user may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessReason {
    /// Its kind: `role`, `grant` or `ticket`.
    pub kind: String,
    /// The user or group of a grant; the name of a role.
    pub name: Option<String>,
    /// What it grants: a level, or rights joined by `+`.
    pub level: String,
    /// The scope of a grant.
    pub scope: Option<String>,
    /// The path of the resource that has a grant.
    pub from: Option<String>,
    /// `gives`; or why it grants nothing: `elsewhere` (it only applies to what is below), `closed` (the resource
    /// ignores defaults) or `farther` (a nearer collection has defaults).
    pub effect: String,
}

/// A change of an access list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccessOperation {
    /// A user or a group.
    pub name: String,
    /// What they may do from now on.
    pub level: String,
    /// The scope.
    pub scope: String,
}

/// A kept version of an object's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// Its number.
    pub version: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Its SHA-256 in hexadecimal, if it is known.
    pub sha256: Option<String>,
    /// When it was written.
    pub modified: Timestamp,
    /// Who wrote it.
    pub modified_by: Option<String>,
    /// When it was kept.
    pub kept: Option<Timestamp>,
    /// Who kept it.
    #[serde(default)]
    pub kept_by: Option<String>,
    /// The time that it stands for: the one that its maker gave it, or when it became the current state.
    #[serde(default)]
    pub time: Option<Timestamp>,
    /// What it was labelled.
    pub label: Option<String>,
}

/// What changed from one state of a resource to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionDifference {
    /// Whether the bytes differ; none for what has no content.
    pub content_changed: Option<bool>,
    /// The earlier content.
    pub from: Option<ComparedContent>,
    /// The later content.
    pub to: Option<ComparedContent>,
    /// Statements that only the earlier description has.
    pub removed: Vec<ComparedStatement>,
    /// Statements that only the later description has.
    pub added: Vec<ComparedStatement>,
}

/// The content of a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedContent {
    /// Its size in bytes.
    pub size: u64,
    /// Its SHA-256 in hexadecimal, if it is known.
    pub sha256: Option<String>,
    /// Its media type.
    pub media_type: Option<String>,
}

/// A statement, as an attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedStatement {
    /// What it is about, if that is not the resource itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The attribute.
    pub attribute: String,
    /// Its value.
    pub value: String,
    /// The unit of the value.
    #[serde(default)]
    pub unit: Option<String>,
}

/// The number and size of the resources below a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Resources with content.
    pub objects: u64,
    /// Collections.
    pub collections: u64,
    /// The total size of their contents.
    pub bytes: u64,
    /// What was removed from below it and can be restored; not included in the numbers above.
    #[serde(default)]
    pub trash: TrashTotal,
}

/// What is in the trash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrashTotal {
    /// Removed resources, each counted once including everything below it.
    pub items: u64,
    /// The total size of their contents, as far as counted.
    pub bytes: u64,
}

/// The identity of the caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The user's name.
    pub name: String,
    /// The user's role.
    pub role: String,
    /// The groups that the user belongs to.
    pub groups: Vec<String>,
}

/// A search; all conditions given have to hold.
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

/// Any other response of the server: objects whose fields are listed in its OpenAPI document.
pub type Record = serde_json::Map<String, serde_json::Value>;
