//! Where objects are by their ids: the extensions 0004 (hashed n-tuples) and 0002 (flat).

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::EXTENSIONS;
use crate::fault::At;
use crate::object::{small, write as write_file};
use crate::path::wrong;
use crate::{Algorithm, Fault};

pub(super) const FILE: &str = "ocfl_layout.json";
const HASHED: &str = "0004-hashed-n-tuple-storage-layout";
const FLAT: &str = "0002-flat-direct-storage-layout";
/// The most that a file of settings may have, in bytes.
const LARGEST: u64 = 1 << 16;

/// A layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// 0004: in directories that are named after pieces of the digest of the id.
    Hashed(Hashed),
    /// 0002: in a directory that is named after the id.
    Flat,
}

/// The settings of 0004.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Hashed {
    extension_name: String,
    digest_algorithm: String,
    tuple_size: usize,
    number_of_tuples: usize,
    short_object_root: bool,
}

impl Default for Hashed {
    fn default() -> Self {
        Self {
            extension_name: HASHED.to_owned(),
            digest_algorithm: "sha256".to_owned(),
            tuple_size: 3,
            number_of_tuples: 3,
            short_object_root: false,
        }
    }
}

impl Default for Layout {
    fn default() -> Self {
        Self::Hashed(Hashed::default())
    }
}

impl Layout {
    /// Where the object with an id is below the root; none for an id that cannot be a name, or settings without sense.
    pub fn place(&self, id: &str) -> Option<PathBuf> {
        match self {
            Self::Flat => {
                let is_name = wrong(id).is_none() && !id.contains('/') && id != EXTENSIONS;
                is_name.then(|| PathBuf::from(id))
            }
            Self::Hashed(hashed) => hashed.place(id),
        }
    }
}

impl Hashed {
    fn place(&self, id: &str) -> Option<PathBuf> {
        let digest = Algorithm::named(&self.digest_algorithm)?.of(id.as_bytes());
        let used = self.tuple_size.checked_mul(self.number_of_tuples)?;
        let is_valid =
            used <= digest.len() && (self.tuple_size == 0) == (self.number_of_tuples == 0);
        if !is_valid || (self.short_object_root && used == digest.len()) {
            return None;
        }
        let tuple = |index: usize| &digest[index * self.tuple_size..(index + 1) * self.tuple_size];
        let above: PathBuf = (0..self.number_of_tuples).map(tuple).collect();
        Some(above.join(if self.short_object_root { &digest[used..] } else { &digest }))
    }
}

/// The declared layout of a root; `None` if there is none, or an unknown one.
pub(super) fn read(root: &Path) -> Result<Option<Layout>, Fault> {
    #[derive(Deserialize)]
    struct Described {
        extension: String,
    }
    let path = root.join(FILE);
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let wrong = |path: &Path, error: serde_json::Error| {
        Fault::new("E070", path.display().to_string(), format!("not a layout: {error}"))
    };
    let described: Described =
        serde_json::from_slice(&small(&path, LARGEST)?).map_err(|error| wrong(&path, error))?;
    match described.extension.as_str() {
        FLAT => Ok(Some(Layout::Flat)),
        HASHED => {
            let path = settings(root);
            if path.symlink_metadata().is_err() {
                return Ok(Some(Layout::default()));
            }
            let hashed = serde_json::from_slice(&small(&path, LARGEST)?);
            Ok(Some(Layout::Hashed(hashed.map_err(|error| wrong(&path, error))?)))
        }
        _ => Ok(None),
    }
}

fn settings(root: &Path) -> PathBuf {
    root.join(EXTENSIONS).join(HASHED).join("config.json")
}

/// Writes the files that declare the layout.
pub(super) fn write(root: &Path, layout: &Layout) -> Result<(), Fault> {
    let (name, description) = match layout {
        Layout::Flat => (FLAT, "objects are in directories that are named after their ids"),
        Layout::Hashed(_) => {
            (HASHED, "objects are in directories that are named after the digests of their ids")
        }
    };
    if let Layout::Hashed(hashed) = layout {
        let path = settings(root);
        let directory = path.parent().unwrap_or(root);
        std::fs::create_dir_all(directory).at(directory)?;
        let text = serde_json::to_vec(hashed).unwrap_or_default();
        write_file(&path, &text)?;
    }
    let text = serde_json::json!({ "extension": name, "description": description });
    write_file(&root.join(FILE), text.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_examples_of_the_extension_have_the_specified_paths() {
        let place = |hashed: Hashed, id| hashed.place(id).unwrap().display().to_string();
        assert_eq!(
            place(Hashed::default(), "object-01"),
            "3c0/ff4/240/3c0ff4240c1e116dba14c7627f2319b58aa3d77606d0d90dfc6161608ac987d4"
        );
        let short = Hashed {
            digest_algorithm: "md5".to_owned(),
            tuple_size: 2,
            number_of_tuples: 15,
            short_object_root: true,
            ..Hashed::default()
        };
        assert_eq!(place(short, "object-01"), "ff/75/53/44/92/48/5e/ab/b3/9f/86/35/67/28/88/4e");
        let flat = Hashed { tuple_size: 0, number_of_tuples: 0, ..Hashed::default() };
        assert_eq!(flat.place("a").unwrap().components().count(), 1);
    }

    proptest! {
        #[test]
        fn an_object_is_below_its_root(id: String, tuple_size in 0usize..70, number_of_tuples in 0usize..70) {
            let hashed = Hashed { tuple_size, number_of_tuples, ..Hashed::default() };
            for layout in [Layout::Flat, Layout::Hashed(hashed)] {
                if let Some(place) = layout.place(&id) {
                    let mut parts = place.components();
                    prop_assert!(parts.all(|part| matches!(part, std::path::Component::Normal(_))));
                }
            }
        }
    }
}
