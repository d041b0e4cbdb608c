//! Changing which resources there are: creating, moving, copying and removing them; and their attributes.

use http::header::{IF_MATCH, IF_NONE_MATCH};
use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::Retention;
use crate::call::{Call, bytes_of};
use crate::client::read;
use crate::{At, Client, Error, Kept, Resource, ResourceKind, Result};

/// Where a new resource is created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Destination {
    /// At a path.
    Path(String),
    /// Under a name in a collection, wherever the collection is by then.
    Child {
        /// The id of the collection.
        parent: u64,
        /// The name.
        name: String,
    },
}

impl From<String> for Destination {
    fn from(path: String) -> Self {
        Self::Path(path)
    }
}

impl From<&str> for Destination {
    fn from(path: &str) -> Self {
        Self::Path(path.to_owned())
    }
}

/// Writes a destination as members of an object.
fn place<S: Serializer>(to: &Destination, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Place<'a> {
        Path { path: &'a str },
        Child { parent: u64, name: &'a str },
    }
    let place = match to {
        Destination::Path(path) => Place::Path { path },
        Destination::Child { parent, name } => Place::Child { parent: *parent, name },
    };
    place.serialize(serializer)
}

/// What to create, other than an object.
#[derive(Debug, Clone, Serialize)]
pub struct NewResource {
    /// The path, or a name in a collection.
    #[serde(flatten, serialize_with = "place")]
    pub to: Destination,
    /// The kind; objects are created by putting their bytes.
    pub kind: ResourceKind,
    /// Where a link points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Create missing parent collections.
    pub parents: bool,
    /// Accept an existing resource if it is the same.
    pub exist_ok: bool,
    /// Mode bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// The modification time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtime: Option<Timestamp>,
}

/// A move or a copy.
#[derive(Debug, Clone, Serialize)]
pub struct Relocation {
    /// The source.
    pub from: At,
    /// Where it is moved or copied to.
    pub to: Destination,
    /// Replace an existing resource.
    pub replace: bool,
    /// Create missing parent collections.
    pub parents: bool,
    /// For a move: allow dropping the versions of the replaced resource.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub versions: bool,
}

/// What may be removed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Removal<'a> {
    /// Everything below it.
    pub recursive: bool,
    /// The kept versions.
    pub versions: bool,
    /// Permanently, not into the trash.
    pub permanent: bool,
    /// Only if the resource is still in this state.
    pub if_match: Option<&'a str>,
}

/// Attributes to change; the others are unchanged.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Attributes {
    /// Mode bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// The modification time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtime: Option<Timestamp>,
    /// The owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// What happens to replaced states: `off`, `on-request` or `each-change`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versioning: Option<String>,
    /// Which versions are kept, besides those with a label.
    #[serde(flatten)]
    pub retention: Retention,
    /// How long removed resources below are kept in the trash, in seconds; 0 disables the trash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_removed: Option<u64>,
    /// How many bytes of removed resources below are kept at most; `Some(None)` lifts the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_removed_bytes: Option<Option<u64>>,
    /// What is required of links in descriptions: `none`, `lenient` or `strict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_integrity: Option<String>,
}

/// A JSON body that also identifies the resource.
#[derive(Serialize)]
pub(crate) struct On<'a, T> {
    #[serde(flatten)]
    pub(crate) at: &'a At,
    #[serde(flatten)]
    pub(crate) body: T,
}

impl Client {
    /// Creates a collection, a link or a description.
    pub async fn create(&self, new: &NewResource) -> Result<Resource> {
        self.json(Call::post("/v1/create").json(new)).await
    }

    /// Atomically moves a resource with everything below it.
    pub async fn relocate(&self, relocation: &Relocation) -> Result<Resource> {
        Ok(self.relocate_kept(relocation).await?.0)
    }

    /// The same; returns also how to restore what it replaced, if that is kept in the trash.
    pub async fn relocate_kept(&self, relocation: &Relocation) -> Result<(Resource, Option<Kept>)> {
        let (head, body) = self.send(Call::post("/v1/move").json(relocation)).await?.into_parts();
        let moved = serde_json::from_slice(&read(body).await?).map_err(Error::protocol)?;
        Ok((moved, Kept::read(&head.headers)))
    }

    /// Copies a resource, with everything below it if `recursive`; contents are shared.
    pub async fn copy(&self, relocation: &Relocation, recursive: bool) -> Result<Resource> {
        #[derive(Serialize)]
        struct Copy<'a> {
            #[serde(flatten)]
            relocation: &'a Relocation,
            recursive: bool,
        }
        self.json(Call::post("/v1/copy").json(&Copy { relocation, recursive })).await
    }

    /// Copies a resource other than a collection, if the target is still in the state `expected_state`; `None` means that it
    /// did not exist.
    ///
    /// # Errors
    /// [`Kind::Precondition`] if it is not.
    pub async fn copy_if(
        &self,
        relocation: &Relocation,
        expected_state: Option<&str>,
    ) -> Result<Resource> {
        let call = Call::post("/v1/copy").json(relocation);
        let call = match expected_state {
            Some(state) => call.header(IF_MATCH, state)?,
            None => call.header(IF_NONE_MATCH, "*")?,
        };
        self.json(call).await
    }

    /// Removes a resource; returns how to restore it, if it is kept in the trash.
    ///
    /// # Errors
    /// [`Kind::NotEmpty`] if it has children or versions that may not be removed.
    pub async fn remove(&self, at: impl Into<At>, removal: &Removal<'_>) -> Result<Option<Kept>> {
        let mut call = Call::delete(&bytes_of(&at.into()))
            .query("recursive", removal.recursive)
            .query("versions", removal.versions)
            .query("permanent", removal.permanent);
        if let Some(state) = removal.if_match {
            call = call.header(IF_MATCH, state)?;
        }
        Ok(Kept::read(&self.headers(call).await?))
    }

    /// Changes attributes.
    pub async fn set_attributes(&self, at: &At, attributes: &Attributes) -> Result<Resource> {
        let body = On { at, body: attributes };
        self.json(Call::patch("/v1/attributes").json(&body).repeatable()).await
    }
}
