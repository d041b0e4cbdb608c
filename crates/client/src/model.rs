//! The words of the native opening as plain data: what `docs/native-api.md` shows in JSON.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Xattr;

/// Which resource is meant: the one at a path now, or the one with an id wherever it is.
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

/// What a resource is.
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
    /// Its id, never given twice.
    pub id: u64,
    /// Where it is.
    pub path: String,
    /// Its name; empty or absent for the root.
    pub name: Option<String>,
    /// What it is.
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
    /// The tag of the content, as `If-Match` takes it.
    pub etag: Option<String>,
    /// The tag of the description, as `If-Match` of a change of the description takes it.
    #[serde(default)]
    pub description_etag: Option<String>,
    /// The tag of the membership of a collection.
    #[serde(default)]
    pub members_etag: Option<String>,
    /// The tag of the state, which changes with every change of content, description or access.
    pub state: Option<String>,
    /// Who it belongs to.
    pub owner: Option<String>,
    /// When it came to be.
    pub created: Option<Timestamp>,
    /// Who created it.
    pub created_by: Option<String>,
    /// When its content, description or access last changed.
    pub modified: Option<Timestamp>,
    /// Who changed it.
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
    /// What happens to replaced contents below.
    pub versioning: Option<serde_json::Value>,
    /// For how many seconds what is removed below is kept in the trash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_removed: Option<u64>,
    /// What the caller may do, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// The tag of its description, where that was asked for and there is one: two descriptions are
    /// the same if their tags are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description_tag: Option<String>,
    /// Its description, where a listing was asked for it; none if it is large, or may not be read.
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
    /// Where the next page begins; none after the last.
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

/// A line of an access list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// A user or a group.
    pub name: String,
    /// What they may do.
    pub level: String,
    /// How far the line reaches: `this`, `default` or `subtree`.
    pub scope: String,
    /// The resource that the line is written on, if not this one.
    pub from: Option<String>,
}

/// Who may do what with a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The lines in force, inherited ones included.
    pub grants: Vec<Grant>,
    /// Defaults of the collections above do not apply.
    pub closed: bool,
    /// What is created here gets a copy of the lines on this collection.
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
    /// Each right there is.
    pub rights: Vec<ExplainedRight>,
    /// Lines of access lists that are about the user and give nothing here.
    pub without_effect: Vec<AccessReason>,
    /// What the caller's token leaves of what they are given, if they use one.
    pub token: Option<String>,
}

/// Whether a user has a right, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainedRight {
    /// The right.
    pub right: String,
    /// Whether the user has it. One that is given and not granted is withheld by the caller's token.
    pub granted: bool,
    /// What gives it.
    pub by: Vec<AccessReason>,
}

/// Something that bears on what a user may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessReason {
    /// What it is: `role`, `grant` or `ticket`.
    pub kind: String,
    /// The user or group of a grant; the name of a role.
    pub name: Option<String>,
    /// What it gives: a level, or rights joined by `+`.
    pub level: String,
    /// How far a grant reaches.
    pub scope: Option<String>,
    /// The path of the resource that has a grant.
    pub from: Option<String>,
    /// `gives`; or why it gives nothing: `elsewhere` (it is about what lies below alone), `closed` (the resource takes
    /// no defaults) or `farther` (a nearer collection has defaults).
    pub effect: String,
}

/// A change of an access list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccessOperation {
    /// A user or a group.
    pub name: String,
    /// What they may do from now on.
    pub level: String,
    /// How far that reaches.
    pub scope: String,
}

/// A kept content of an object.
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
    /// What it was labelled.
    pub label: Option<String>,
}

/// How much lies below a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Resources with content.
    pub objects: u64,
    /// Collections.
    pub collections: u64,
    /// The sizes of the contents together.
    pub bytes: u64,
    /// What was removed from below it and can be restored; not in the numbers above.
    #[serde(default)]
    pub trash: TrashTotal,
}

/// How much the trash holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrashTotal {
    /// Removed resources, each with all below it.
    pub items: u64,
    /// Bytes of their contents, as far as they have been counted.
    pub bytes: u64,
}

/// Who the caller is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The user's name.
    pub name: String,
    /// The user's role.
    pub role: String,
    /// The groups that the user belongs to.
    pub groups: Vec<String>,
}

/// What to search for; every part that is given has to hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Search {
    /// The collection to search below.
    pub under: String,
    /// Conditions on the description.
    pub r#where: Vec<Condition>,
    /// A pattern of the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it has to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ResourceKind>,
}

/// A resource whose description links to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinksFrom {
    /// The resource.
    pub resource: Resource,
    /// Its statements that link.
    pub links: Vec<Link>,
}

/// A statement that links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// What it is about, if that is not the resource itself.
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
    /// What the value is compared with; nothing for `exists`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// Anything else that the server tells: objects whose fields its OpenAPI document lists.
pub type Record = serde_json::Map<String, serde_json::Value>;
