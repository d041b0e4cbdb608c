//! All objects of a root, in the order of their directories.

use std::path::PathBuf;

use walkdir::{DirEntry, WalkDir};

use super::{EXTENSIONS, Root};
use crate::object::is_object;
use crate::{Fault, Faults};

impl Root {
    /// The directories of all objects, wherever they are.
    ///
    /// # Errors
    /// Links, and files or empty directories that are not part of an object.
    pub fn objects(&self) -> Result<Vec<PathBuf>, Faults> {
        let (mut objects, mut faults) = (Vec::new(), Vec::new());
        let mut entries = WalkDir::new(&self.path)
            .min_depth(1)
            .follow_links(false)
            .sort_by_file_name()
            .into_iter();
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    faults.push(Fault::new(
                        "io",
                        self.path.display().to_string(),
                        error.to_string(),
                    ));
                    continue;
                }
            };
            let at = || entry.path().display().to_string();
            match self.class(&entry) {
                Class::Object => {
                    objects.push(entry.path().to_owned());
                    entries.skip_current_dir();
                }
                Class::Ignored if entry.file_type().is_dir() => entries.skip_current_dir(),
                Class::Above | Class::Ignored => {}
                Class::Wrong(code, what) => faults.push(Fault::new(code, at(), what)),
            }
        }
        if faults.is_empty() { Ok(objects) } else { Err(Faults(faults)) }
    }

    fn class(&self, entry: &DirEntry) -> Class {
        let kind = entry.file_type();
        let is_at_root = entry.depth() == 1;
        if !kind.is_dir() && !kind.is_file() {
            return Class::Wrong("E090", "neither a file nor a directory");
        }
        if kind.is_file() {
            // The root may have copies of the specification and the like.
            return if is_at_root {
                Class::Ignored
            } else {
                Class::Wrong("E072", "a file that is not in an object")
            };
        }
        if is_at_root && entry.file_name() == EXTENSIONS {
            return Class::Ignored;
        }
        if is_object(entry.path()) {
            return Class::Object;
        }
        let is_empty = std::fs::read_dir(entry.path()).is_ok_and(|mut it| it.next().is_none());
        if is_empty { Class::Wrong("E073", "the directory is empty") } else { Class::Above }
    }
}

/// What is found in a root.
enum Class {
    Object,
    /// A directory above objects.
    Above,
    Ignored,
    Wrong(&'static str, &'static str),
}
