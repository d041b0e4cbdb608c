//! Paths, and the other way to say which resource is meant.

use std::fmt;
use std::str::FromStr;

use super::{Name, ResourceId};
use crate::{Error, Result};

/// An absolute path: `/` and names. A trailing `/` is accepted and dropped.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StorePath(Vec<Name>);

impl StorePath {
    /// How many names the path of something new may have. Moves of earlier programs could bring things deeper.
    pub const MAX_DEPTH: usize = 256;

    /// How many names any path may have.
    pub(crate) const MOST_NAMES: usize = 16_384;

    /// The path `/`.
    pub fn root() -> Self {
        Self::default()
    }

    /// The names from the root down.
    pub fn names(&self) -> &[Name] {
        &self.0
    }

    /// The path of the collection and the last name; none for `/`.
    pub fn split_last(&self) -> Option<(StorePath, &Name)> {
        let (name, parents) = self.0.split_last()?;
        Some((Self(parents.to_vec()), name))
    }

    /// The path of its first names, as many as are given.
    pub fn prefix(&self, names: usize) -> Self {
        Self(self.0.iter().take(names).cloned().collect())
    }

    /// The path of a child.
    pub fn join(&self, name: Name) -> Result<Self> {
        let mut names = self.0.clone();
        names.push(name);
        Self::from_names(names)
    }

    /// Whether this path is `other`, or below it.
    pub fn starts_with(&self, other: &StorePath) -> bool {
        self.0.starts_with(&other.0)
    }

    /// The path of an existing child, however deep.
    pub(crate) fn child(&self, name: Name) -> Self {
        Self(self.0.iter().cloned().chain([name]).collect())
    }

    /// A path read back from the catalog.
    pub(crate) fn trusted(names: Vec<Name>) -> Self {
        Self(names)
    }

    /// Refuses a depth at which nothing new may be.
    pub(crate) fn check_depth(depth: usize) -> Result<()> {
        match depth > Self::MAX_DEPTH {
            true => Err(Error::invalid("a path cannot have more than 256 names")),
            false => Ok(()),
        }
    }

    pub(crate) fn from_names(names: Vec<Name>) -> Result<Self> {
        match names.len() > Self::MOST_NAMES {
            true => Err(Error::invalid("a path cannot have more than 16,384 names")),
            false => Ok(Self(names)),
        }
    }
}

impl FromStr for StorePath {
    type Err = Error;

    fn from_str(path: &str) -> Result<Self> {
        let Some(rest) = path.strip_prefix('/') else {
            return Err(Error::invalid(format!("a path begins with `/`: {path:.64?}")));
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if rest.is_empty() {
            return Ok(Self::root());
        }
        Self::from_names(rest.split('/').map(Name::new).collect::<Result<_>>()?)
    }
}

impl fmt::Display for StorePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("/");
        }
        self.0.iter().try_for_each(|name| write!(f, "/{name}"))
    }
}

/// Which resource is meant: the one at a path now, the one with an id wherever it is, or the one of a name in the collection with an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// By its path.
    Path(StorePath),
    /// By its id.
    Id(ResourceId),
    /// By the id of its collection, and its name in it.
    Child(ResourceId, Name),
}

impl From<StorePath> for At {
    fn from(path: StorePath) -> Self {
        Self::Path(path)
    }
}

impl From<&StorePath> for At {
    fn from(path: &StorePath) -> Self {
        Self::Path(path.clone())
    }
}

impl From<ResourceId> for At {
    fn from(id: ResourceId) -> Self {
        Self::Id(id)
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => path.fmt(f),
            Self::Id(id) => write!(f, "id {id}"),
            Self::Child(id, name) => write!(f, "{name} in id {id}"),
        }
    }
}
