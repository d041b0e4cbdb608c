//! The inventory of an object: its versions, their contents, and where the bytes are stored.
//!
//! * `read` reads JSON, `check` finds contradictions, `write` writes JSON.
//!
//! Invariant: an [`Inventory`] that was read is consistent: its versions are 1 to `head`, each digest of a state is in the manifest, each
//! path stays below the object, and no path is also a directory of another.

mod check;
mod pairs;
mod read;
mod write;

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use crate::{Algorithm, VersionNumber};

pub(crate) use self::read::parse;

/// The version of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spec {
    /// 1.0
    V1_0,
    /// 1.1
    V1_1,
}

/// An inventory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inventory {
    /// The id of the object.
    pub id: String,
    /// The version of the specification.
    pub spec: Spec,
    /// The algorithm of the digests.
    pub algorithm: Algorithm,
    /// The newest version.
    pub head: VersionNumber,
    /// The directory of each version that has the contents.
    pub content_directory: String,
    /// The paths of the contents with each digest, which is written as here in states.
    pub manifest: BTreeMap<String, Vec<String>>,
    /// The versions, the first one first; at least one.
    pub versions: Vec<Version>,
    /// Further digests: by the name of the algorithm, and the digest, the paths of contents.
    pub fixity: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

/// What an object was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// When.
    pub created: Timestamp,
    /// Why.
    pub message: Option<String>,
    /// By whom.
    pub user: Option<User>,
    /// The digest of each file, by its path.
    pub state: BTreeMap<String, String>,
}

/// The creator of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    /// A URI such as `mailto:…`.
    pub address: Option<String>,
}

impl Spec {
    /// Its number.
    pub fn name(self) -> &'static str {
        match self {
            Self::V1_0 => "1.0",
            Self::V1_1 => "1.1",
        }
    }

    /// The one with this number.
    pub fn named(name: &str) -> Option<Self> {
        [Self::V1_0, Self::V1_1].into_iter().find(|spec| spec.name() == name)
    }

    pub(crate) fn inventory_type(self) -> String {
        format!("https://ocfl.io/{}/spec/#inventory", self.name())
    }
}

impl Inventory {
    /// The version that is now.
    pub fn newest(&self) -> &Version {
        self.versions.last().expect("an inventory has a version")
    }

    /// Where the bytes with a digest are, in the object.
    pub fn content(&self, digest: &str) -> Option<&str> {
        self.manifest.get(digest)?.first().map(String::as_str)
    }

    /// The digest of the content with a SHA-256, if the fixity block has it.
    pub fn known(&self, sha256: &str) -> Option<String> {
        let path = self.fixity.get(Algorithm::Sha256.name())?.get(sha256)?.first()?;
        self.digests().get(path.as_str()).map(|digest| (*digest).to_owned())
    }

    /// The numbers of the versions.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = VersionNumber> + '_ {
        (1..=self.versions.len())
            .filter_map(|number| self.head.at(u32::try_from(number).unwrap_or(u32::MAX)))
    }

    /// The digest of the manifest by the path of a content.
    pub(crate) fn digests(&self) -> HashMap<&str, &str> {
        let each = self.manifest.iter();
        each.flat_map(|(digest, paths)| paths.iter().map(|path| (path.as_str(), digest.as_str())))
            .collect()
    }
}
