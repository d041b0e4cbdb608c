//! Local directories that are not reached through symbolic links.
//!
//! Invariant: nothing is written through a symbolic link below the root, because a link made by an earlier run or another
//! program could lead anywhere.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

use crate::place::above;

/// What is below a root.
#[derive(Debug)]
pub(super) struct Beneath<'a> {
    root: &'a Path,
    /// Directories that are none elsewhere.
    real: HashSet<String>,
}

impl<'a> Beneath<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Self { root, real: HashSet::new() }
    }

    /// Makes a directory, and those above it.
    pub(super) fn make(&mut self, path: &str) -> io::Result<()> {
        for above in above(path).collect::<Vec<_>>().into_iter().rev().chain([path]) {
            if !self.real.contains(above) {
                match fs::create_dir(self.root.join(above)) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(error);
                    }
                    _ => self.require(above)?,
                }
            }
        }
        Ok(())
    }

    /// Whether a directory has been created, or found to exist.
    pub(super) fn has(&self, path: &str) -> bool {
        self.real.contains(path)
    }

    /// Requires that all above a path are directories.
    pub(super) fn check(&mut self, path: &str) -> io::Result<()> {
        let unknown = above(path).take_while(|above| !self.real.contains(*above));
        let unknown: Vec<&str> = unknown.collect();
        unknown.into_iter().rev().try_for_each(|above| self.require(above))
    }

    fn require(&mut self, directory: &str) -> io::Result<()> {
        if !fs::symlink_metadata(self.root.join(directory))?.is_dir() {
            let message =
                format!("{directory} is not a directory, and nothing is written through it");
            return Err(io::Error::new(io::ErrorKind::NotADirectory, message));
        }
        self.real.insert(directory.to_owned());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_is_created_or_written_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir(dir.path().join("outside")).unwrap();
        symlink("../outside", root.join("link")).unwrap();
        symlink("../../outside", root.join("a/link")).unwrap();
        let mut beneath = Beneath::new(&root);
        for path in ["x", "a/x", "a/b/x", "a/b/y"] {
            beneath.check(path).unwrap();
        }
        beneath.make("a/c/d").unwrap();
        assert!(beneath.has("a/c/d") && beneath.has("a/c"));
        for path in ["link/x", "a/link/x", "a/link/deep/x"] {
            assert!(beneath.check(path).is_err() && beneath.make(path).is_err(), "{path}");
        }
        assert!(beneath.make("link").is_err() && !beneath.has("link"));
        assert_eq!(fs::read_dir(dir.path().join("outside")).unwrap().count(), 0);
    }
}
