//! The headers that fcrepo 6 keeps in `.fcrepo`: one JSON file for each resource of an object.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub(super) const DIRECTORY: &str = ".fcrepo/";
pub(super) const OWN: &str = ".fcrepo/fcr-root.json";
pub(super) const DESCRIPTION: &str = ".fcrepo/fcr-root~fcr-desc.json";
pub(super) const METADATA: &str = "/fcr:metadata";
pub(super) const ACL: &str = "/fcr:acl";
const VERSION: &str = "1.0";

pub(super) const BASIC: &str = "http://www.w3.org/ns/ldp#BasicContainer";
pub(super) const BINARY: &str = "http://www.w3.org/ns/ldp#NonRDFSource";
pub(super) const DESCRIBES: &str =
    "http://fedora.info/definitions/v4/repository#NonRdfSourceDescription";
/// The classes of containers that are statements in the store, and headers in fcrepo.
pub(super) const CLASSES: [&str; 2] =
    ["http://www.w3.org/ns/ldp#DirectContainer", "http://www.w3.org/ns/ldp#IndirectContainer"];

/// What the store states of a file whose name differs from that of the resource, and fcrepo has in the header.
pub(super) const FILENAME: &str = "http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#filename";

/// The header of a resource.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header {
    pub(super) id: String,
    #[serde(default)]
    parent: Option<String>,
    #[serde(default)]
    state_token: Option<String>,
    #[serde(default)]
    pub(super) interaction_model: Option<String>,
    #[serde(default)]
    pub(super) mime_type: Option<String>,
    #[serde(default)]
    pub(super) filename: Option<String>,
    #[serde(default)]
    content_size: Option<i64>,
    #[serde(default)]
    digests: Vec<String>,
    #[serde(default)]
    pub(super) external_url: Option<String>,
    #[serde(default)]
    created_date: Option<Timestamp>,
    #[serde(default)]
    created_by: Option<String>,
    #[serde(default)]
    last_modified_date: Option<Timestamp>,
    #[serde(default)]
    last_modified_by: Option<String>,
    #[serde(default)]
    memento_created_date: Option<Timestamp>,
    #[serde(default)]
    archival_group: bool,
    #[serde(default)]
    object_root: bool,
    #[serde(default)]
    pub(super) deleted: bool,
    #[serde(default)]
    pub(super) content_path: Option<String>,
    #[serde(default)]
    headers_version: Option<String>,
}

/// When and by whom a resource was created, and its current state.
#[derive(Debug, Clone)]
pub(super) struct Times {
    pub(super) created: Option<Timestamp>,
    pub(super) created_by: Option<String>,
    pub(super) modified: Timestamp,
    pub(super) modified_by: Option<String>,
}

/// The bytes that a header is about.
#[derive(Debug)]
pub(super) struct Bytes<'a> {
    pub(super) path: &'a str,
    pub(super) size: u64,
    pub(super) sha512: &'a str,
    /// Of a file.
    pub(super) mime_type: Option<&'a str>,
    pub(super) filename: Option<&'a str>,
}

/// The media type of bytes of which nothing else is known.
pub(super) const ANY: &str = "application/octet-stream";

impl Header {
    pub(super) fn new(id: &str, parent: &str, model: &str, times: &Times) -> Self {
        Self {
            id: id.to_owned(),
            parent: Some(parent.to_owned()),
            state_token: None,
            interaction_model: Some(model.to_owned()),
            mime_type: None,
            filename: None,
            content_size: None,
            digests: Vec::new(),
            external_url: None,
            created_date: times.created,
            created_by: times.created_by.clone(),
            last_modified_date: Some(times.modified),
            last_modified_by: times.modified_by.clone(),
            memento_created_date: Some(times.modified),
            archival_group: false,
            object_root: true,
            deleted: false,
            content_path: None,
            headers_version: Some(VERSION.to_owned()),
        }
    }

    /// The header of the description of a binary, which has no object of its own.
    pub(super) fn of_description(id: &str, times: &Times) -> Self {
        let own = format!("{id}{METADATA}");
        Self { object_root: false, ..Self::new(&own, id, DESCRIBES, times) }
    }

    /// With the bytes that are its content. The token changes whenever they do.
    pub(super) fn with(mut self, bytes: &Bytes<'_>) -> Self {
        self.content_path = Some(bytes.path.to_owned());
        self.content_size = i64::try_from(bytes.size).ok();
        self.digests = vec![format!("urn:sha-512:{}", bytes.sha512)];
        self.mime_type = bytes.mime_type.map(str::to_owned);
        self.state_token = bytes.sha512.get(..32).map(str::to_ascii_uppercase);
        self.filename = bytes.filename.map(str::to_owned);
        self
    }

    pub(super) fn text(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}
