//! How a resource is named in a request.

use serde::Serialize;

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

/// Where a content is put: over an existing resource, or under a name in a collection, wherever the collection
/// is by then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Address {
    /// At a path, or over the object with an id.
    At(At),
    /// Under a name in a collection.
    Child {
        /// The id of the collection.
        parent: u64,
        /// The name.
        name: String,
    },
}

impl<T: Into<At>> From<T> for Address {
    fn from(at: T) -> Self {
        Self::At(at.into())
    }
}
