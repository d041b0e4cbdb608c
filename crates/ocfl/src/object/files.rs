//! The files and directories of an object, and where they are allowed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use walkdir::WalkDir;

use super::open::{INVENTORY, declaration, sidecar_name};
use crate::fault::At;
use crate::{Algorithm, Fault, Inventory, VersionNumber};

/// What is in the directory of an object.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The paths of all contents of all versions.
    pub(super) contents: BTreeSet<String>,
    /// The versions that have an inventory of their own.
    pub(super) inventories: Vec<VersionNumber>,
}

/// Looks at every name in an object; nothing is read.
pub(super) fn look(root: &Path, inventory: &Inventory, faults: &mut Vec<Fault>) -> Found {
    let mut found = Found::default();
    let mut looking = Looking { root, inventory, faults, found: &mut found };
    if let Err(fault) = looking.object() {
        faults.push(fault);
    }
    found
}

struct Looking<'a> {
    root: &'a Path,
    inventory: &'a Inventory,
    faults: &'a mut Vec<Fault>,
    found: &'a mut Found,
}

/// The kind of an entry. A link is neither a file nor a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Directory,
    Other,
}

impl Looking<'_> {
    fn wrong(&mut self, code: &'static str, path: &Path, what: &str) {
        self.faults.push(Fault::new(code, path.display().to_string(), what));
    }

    fn object(&mut self) -> Result<(), Fault> {
        let own = [
            INVENTORY.to_owned(),
            sidecar_name(self.inventory.algorithm),
            declaration(self.inventory.spec).0,
        ];
        let mut versions = BTreeSet::new();
        for (name, kind) in names(self.root)? {
            let path = self.root.join(&name);
            match (name.as_str(), kind) {
                (_, Kind::Other) => self.wrong("E090", &path, "neither a file nor a directory"),
                (name, Kind::File) if own.iter().any(|own| own == name) => {}
                ("logs", Kind::Directory) => {}
                ("extensions", Kind::Directory) => self.extensions(&path)?,
                (name, Kind::Directory) if VersionNumber::parse(name).is_some() => {
                    versions.insert(name.to_owned());
                }
                _ => self.wrong("E001", &path, "it has no place in an object"),
            }
        }
        self.versions(&versions)
    }

    /// The directories are those of the versions of the inventory.
    fn versions(&mut self, there: &BTreeSet<String>) -> Result<(), Fault> {
        let wanted: Vec<_> = self.inventory.numbers().collect();
        let names: BTreeSet<_> = wanted.iter().map(ToString::to_string).collect();
        for name in there.difference(&names) {
            let path = self.root.join(name);
            self.wrong("E046", &path, "the inventory has no such version");
        }
        for number in wanted {
            let path = self.root.join(number.to_string());
            if there.contains(&number.to_string()) {
                self.version(number, &path)?;
            } else {
                self.wrong("E010", &path, "the directory of the version is missing");
            }
        }
        Ok(())
    }

    fn version(&mut self, number: VersionNumber, directory: &Path) -> Result<(), Fault> {
        for (name, kind) in names(directory)? {
            let path = directory.join(&name);
            let is_sidecar = [Algorithm::Sha512, Algorithm::Sha256]
                .iter()
                .any(|algorithm| name == sidecar_name(*algorithm));
            match kind {
                Kind::Other => self.wrong("E090", &path, "neither a file nor a directory"),
                Kind::File if name == INVENTORY => self.found.inventories.push(number),
                Kind::File if is_sidecar => {}
                Kind::File => self.wrong("E015", &path, "it has no place in a version"),
                Kind::Directory if name == self.inventory.content_directory => {
                    self.contents(&path);
                }
                // Allowed, but nothing in it is part of the object.
                Kind::Directory => {}
            }
        }
        Ok(())
    }

    fn contents(&mut self, directory: &Path) {
        for entry in WalkDir::new(directory).min_depth(1).follow_links(false) {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.wrong("io", directory, &error.to_string());
                    continue;
                }
            };
            let path = entry.path();
            if entry.file_type().is_dir() {
                let is_empty = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
                if is_empty {
                    self.wrong("E024", path, "the directory is empty");
                }
            } else if !entry.file_type().is_file() {
                self.wrong("E090", path, "neither a file nor a directory");
            } else {
                match path.strip_prefix(self.root).ok().and_then(Path::to_str) {
                    Some(path) => drop(self.found.contents.insert(path.to_owned())),
                    None => self.wrong("E023", path, "the name is not UTF-8"),
                }
            }
        }
    }

    fn extensions(&mut self, directory: &Path) -> Result<(), Fault> {
        for (name, kind) in names(directory)? {
            if kind != Kind::Directory {
                let path = directory.join(name);
                self.wrong("E067", &path, "only directories have a place among extensions");
            }
        }
        Ok(())
    }
}

/// What is in a directory, in the order of names.
fn names(directory: &Path) -> Result<Vec<(String, Kind)>, Fault> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).at(directory)? {
        let entry = entry.at(directory)?;
        let kind = match entry.file_type().at(&entry.path())? {
            kind if kind.is_file() => Kind::File,
            kind if kind.is_dir() => Kind::Directory,
            _ => Kind::Other,
        };
        names.push((entry.file_name().to_string_lossy().into_owned(), kind));
    }
    names.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    Ok(names)
}
