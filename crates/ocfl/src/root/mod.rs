//! Storage roots: a declaration, a layout, and objects in directories.
//!
//! * `layout` maps ids to the paths of objects; `walk` finds all objects, whatever the layout.

mod layout;
mod walk;

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

pub use self::layout::Layout;
use crate::fault::At;
use crate::object::{sync, write};
use crate::{Fault, Spec};

const DECLARATION: &str = "0=ocfl_";
const EXTENSIONS: &str = "extensions";
/// Where objects are written before they are moved to their final path. It exists only meanwhile.
const STAGING: &str = "cenote-staging";

/// A storage root.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    spec: Spec,
    layout: Option<Layout>,
}

impl Root {
    /// Opens a storage root.
    ///
    /// # Errors
    /// If the directory is not a root of OCFL 1.0 or 1.1, or its layout does not match the
    /// declaration.
    pub fn open(path: &Path) -> Result<Self, Fault> {
        let spec = declared(path)?;
        let layout = layout::read(path)?;
        Ok(Self { path: path.to_owned(), spec, layout })
    }

    /// Opens a storage root, or turns an empty or missing directory into one.
    ///
    /// # Errors
    /// A directory that is something else.
    pub fn create(path: &Path) -> Result<Self, Fault> {
        fs::create_dir_all(path).at(path)?;
        let mut is_declared = false;
        for entry in fs::read_dir(path).at(path)? {
            let name = entry.at(path)?.file_name().to_string_lossy().into_owned();
            is_declared |= name.starts_with(DECLARATION);
            if !is_declared && name != EXTENSIONS && name != layout::FILE {
                let root = Self::open(path);
                return root.map_err(|fault| match fault.code {
                    "E069" => Fault::new("E069", fault.at, "neither empty nor a storage root"),
                    _ => fault,
                });
            }
        }
        if !is_declared {
            layout::write(path, &Layout::default())?;
            // 1.1 differs in nothing that is written here, and fcrepo before 6.4 does not read it.
            let (name, text) = declaration(Spec::V1_0);
            // The last step: a directory without the declaration is not a root yet.
            write(&path.join(name), text.as_bytes())?;
            sync(path)?;
        }
        Self::open(path)
    }

    /// The version of the specification.
    pub fn spec(&self) -> Spec {
        self.spec
    }

    /// Where the object with an id is, or would be.
    ///
    /// # Errors
    /// A root without a layout that is known here, or an id for which it has no place.
    pub fn place(&self, id: &str) -> Result<PathBuf, Fault> {
        let at = || self.path.display().to_string();
        let unknown =
            || Fault::new("E070", at(), "the layout is not known: objects cannot be added");
        let place = self.layout.as_ref().ok_or_else(unknown)?.place(id);
        let none = || Fault::new("E070", at(), format!("the layout has no place for {id:?}"));
        Ok(self.path.join(place.ok_or_else(none)?))
    }

    /// A directory of its own beside the objects.
    pub(crate) fn staging(&self) -> Result<TempDir, Fault> {
        let staging = self.path.join(EXTENSIONS).join(STAGING);
        fs::create_dir_all(&staging).at(&staging)?;
        tempfile::Builder::new().prefix("object-").tempdir_in(&staging).at(&staging)
    }

    /// Removes the files of unfinished objects.
    ///
    /// # Errors
    /// A fault of the disk.
    pub fn tidy(&self) -> Result<(), Fault> {
        let staging = self.path.join(EXTENSIONS).join(STAGING);
        match fs::remove_dir_all(&staging) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).at(&staging),
            _ => Ok(()),
        }
    }
}

fn declaration(spec: Spec) -> (String, String) {
    (format!("{DECLARATION}{}", spec.name()), format!("ocfl_{}\n", spec.name()))
}

fn declared(path: &Path) -> Result<Spec, Fault> {
    let at = || path.display().to_string();
    let mut found = None;
    for entry in fs::read_dir(path).at(path)? {
        let name = entry.at(path)?.file_name().to_string_lossy().into_owned();
        let Some(number) = name.strip_prefix(DECLARATION) else { continue };
        let unknown = || Fault::new("E069", at(), format!("{name:?} is not of OCFL 1.0 or 1.1"));
        let spec = Spec::named(number).ok_or_else(unknown)?;
        let text = crate::object::small(&path.join(&name), 64)?;
        if found.replace(spec).is_some() {
            return Err(Fault::new("E076", at(), "there are two declarations"));
        }
        if text != declaration(spec).1.into_bytes() {
            return Err(Fault::new("E080", at(), "the declaration has another text"));
        }
    }
    found.ok_or_else(|| Fault::new("E069", at(), "not a storage root: it has no declaration"))
}
