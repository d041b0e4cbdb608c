//! What a mount shows, where that is more than one collection: resources of the store at places, each of which is a path of the mount.
//!
//! Invariant: the places are the leaves of a tree. No place is used twice, none is the root, and none is above another one; the directories
//! above them belong to the mount itself.

pub(crate) mod numbered;

use std::collections::BTreeSet;

use cenote_client::At;

use crate::ops::LONGEST_NAME;

/// The most places of a mount.
const MOST: usize = 100_000;

/// A resource of the store at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The path in the mount.
    pub at: String,
    /// A collection, or a file.
    pub resource: At,
    /// Whether it can be changed here, if anything can be.
    pub write: bool,
    /// The folder of a project that a collection is, for mounts as [`crate::Manners::Dxfuse`]; of a file the one that it is in.
    pub folder: Option<Folder>,
}

/// A folder of a project in the DNAnexus opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// The id of the project.
    pub project: String,
    /// The path in it.
    pub path: String,
}

/// Places that form a tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    places: Vec<Placed>,
}

/// Why places do not form a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Two places are the same.
    #[error("{0} is used twice")]
    Twice(String),
    /// A place is above another one.
    #[error("{0} is a not leaf on the directory scaffolding: another place is below it")]
    NotLeaf(String),
    /// A path that no place can have.
    #[error("{0:?} is no place: a place is an absolute path with names of 1 to 1024 bytes")]
    NoPlace(String),
    /// There are more than a mount can have.
    #[error("a mount has 1 to {MOST} places, not {0}")]
    Number(usize),
}

impl Layout {
    /// Checks places.
    pub fn new(mut places: Vec<Placed>) -> Result<Self, LayoutError> {
        if places.is_empty() || places.len() > MOST {
            return Err(LayoutError::Number(places.len()));
        }
        let mut leaves = BTreeSet::new();
        for place in &mut places {
            place.at = clean(&place.at).ok_or_else(|| LayoutError::NoPlace(place.at.clone()))?;
            if !leaves.insert(place.at.clone()) {
                return Err(LayoutError::Twice(place.at.clone()));
            }
        }
        let above = places.iter().flat_map(|place| above(&place.at));
        let middle = above.into_iter().find(|above| leaves.contains(*above)).map(str::to_owned);
        middle.map_or(Ok(Self { places }), |middle| Err(LayoutError::NotLeaf(middle)))
    }

    /// The places.
    pub fn places(&self) -> &[Placed] {
        &self.places
    }
}

/// The paths above a place, but for the root.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at]).filter(|above| !above.is_empty())
}

/// A path without empty names, `.` and `..`; `None` if it is not valid for a place.
fn clean(path: &str) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in path.strip_prefix('/')?.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    let fits = |name: &&str| name.len() <= LONGEST_NAME as usize && !name.contains('\0');
    let is_place = !names.is_empty() && names.iter().all(fits);
    is_place.then(|| format!("/{}", names.join("/")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn placed(at: &str) -> Placed {
        Placed { at: at.to_owned(), resource: At::Id(1), write: true, folder: None }
    }

    fn layout(places: &[&str]) -> Result<Vec<String>, LayoutError> {
        let layout = Layout::new(places.iter().map(|at| placed(at)).collect())?;
        Ok(layout.places().iter().map(|place| place.at.clone()).collect())
    }

    #[test]
    fn paths_are_normalised_and_have_to_be_leaves() {
        assert_eq!(layout(&["/a//b/./c/../d", "/a/e"]).unwrap(), ["/a/b/d", "/a/e"]);
        let twice = LayoutError::Twice("/a".into());
        assert_eq!(layout(&["/a", "/b", "/x/../a/"]), Err(twice));
        assert_eq!(layout(&["/a/b/c", "/a/b"]), Err(LayoutError::NotLeaf("/a/b".into())));
        for wrong in ["", "a", "/", "/..", "/a/..", "/a\0"] {
            assert_eq!(layout(&[wrong]), Err(LayoutError::NoPlace(wrong.into())));
        }
        assert_eq!(layout(&[]), Err(LayoutError::Number(0)));
    }

    proptest! {
        #[test]
        fn every_accepted_layout_is_a_tree(places in prop::collection::vec("(/[ab.]{0,2}){0,4}|\\PC{0,5}", 0..6)) {
            let given: Vec<&str> = places.iter().map(String::as_str).collect();
            if let Ok(places) = layout(&given) {
                for (n, place) in places.iter().enumerate() {
                    prop_assert!(place.starts_with('/') && place.len() > 1 && !place.contains("//"));
                    for (m, other) in places.iter().enumerate() {
                        let below = other.starts_with(&format!("{place}/")) || other == place;
                        prop_assert_eq!(below, n == m);
                    }
                }
            }
        }
    }
}
