//! Resources and their descendants.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::time;
use crate::{Avu, Xattr};

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
    #[serde(default)]
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
    /// How many bytes of removed resources below are kept at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_removed_bytes: Option<u64>,
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

/// The few attributes of a resource that a file system shows. There can be very many of them, so what is not in a brief listing has no room here.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Brief {
    /// Its id, which is never reused.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: ResourceKind,
    /// The size of its content in bytes.
    pub size: Option<u64>,
    /// The tag of the content, for `If-Match`.
    pub etag: Option<String>,
    /// The tag of the state, which changes with every change of content, description or access.
    pub state: String,
    /// When it was created.
    #[serde(deserialize_with = "time::required")]
    pub created: Timestamp,
    /// When its content, description or access last changed.
    #[serde(deserialize_with = "time::required")]
    pub modified: Timestamp,
    /// When its content last changed, if that is not `modified`.
    #[serde(default, deserialize_with = "time::optional")]
    pub content_modified: Option<Timestamp>,
    /// When the membership of a collection last changed.
    #[serde(default, deserialize_with = "time::optional")]
    pub members_modified: Option<Timestamp>,
    /// Mode bits as in `st_mode & 0o7777`.
    pub mode: Option<u32>,
    /// The modification time that a client set.
    #[serde(default, deserialize_with = "time::optional")]
    pub mtime: Option<Timestamp>,
    /// Where it points, for a link.
    pub target: Option<String>,
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

/// Any other response of the server: objects whose fields are listed in its OpenAPI document.
pub type Record = serde_json::Map<String, serde_json::Value>;
