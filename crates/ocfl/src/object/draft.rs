//! New versions of an object, written beside it and moved in whole.
//!
//! Invariant: until [`Draft::publish`] the object is unchanged. A new object appears atomically; each further version
//! of an object is moved in with its own inventory before the inventory of the object refers to it, so that an
//! interruption in between is detected (`settle`).

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tempfile::TempDir;

use super::open::{INVENTORY, declaration, sidecar_name, sidecar_text};
use super::{Object, settle};
use crate::fault::At;
use crate::path::wrong;
use crate::{Algorithm, Fault, Hashes, Inventory, Root, User, Version, VersionNumber};

/// Versions that are being written.
#[derive(Debug)]
pub struct Draft {
    staging: TempDir,
    target: PathBuf,
    inventory: Inventory,
    /// How many versions the object has already.
    published: usize,
    /// The files of the version that is being written.
    state: BTreeMap<String, String>,
}

/// When, why and by whom a version was created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// When.
    pub created: Timestamp,
    /// Why.
    pub message: Option<String>,
    /// By whom.
    pub user: Option<User>,
}

/// A content that is being written.
#[derive(Debug)]
pub struct Incoming {
    file: tempfile::NamedTempFile,
    hashes: Hashes,
}

impl Write for Incoming {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hashes.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

impl Draft {
    /// A new object.
    ///
    /// # Errors
    /// An id that the layout has no place for, or a fault of the disk.
    pub fn new(root: &Root, id: &str) -> Result<Self, Fault> {
        Self::begin(
            root,
            root.place(id)?,
            Inventory {
                id: id.to_owned(),
                spec: root.spec(),
                algorithm: Algorithm::Sha512,
                head: VersionNumber::FIRST,
                content_directory: "content".to_owned(),
                manifest: BTreeMap::new(),
                versions: Vec::new(),
                fixity: BTreeMap::new(),
            },
        )
    }

    /// Further versions of an object.
    ///
    /// # Errors
    /// A fault of the disk.
    pub fn of(root: &Root, object: &Object) -> Result<Self, Fault> {
        Self::begin(root, object.root.clone(), object.inventory.clone())
    }

    fn begin(root: &Root, target: PathBuf, inventory: Inventory) -> Result<Self, Fault> {
        let staging = root.staging()?;
        let published = inventory.versions.len();
        Ok(Self { staging, target, inventory, published, state: BTreeMap::new() })
    }

    /// The digest of a content that the object has already, by its SHA-256.
    pub fn known(&self, sha256: &str) -> Option<String> {
        self.inventory.known(sha256)
    }

    /// A content to write, and then to [`add`](Self::add).
    ///
    /// # Errors
    /// A fault of the disk.
    pub fn incoming(&self) -> Result<Incoming, Fault> {
        let file = tempfile::NamedTempFile::new_in(self.staging.path()).at(self.staging.path())?;
        Ok(Incoming { file, hashes: Hashes::new([self.inventory.algorithm, Algorithm::Sha256]) })
    }

    /// Makes a content that was written a file of the version; returns its digest. The same content is kept once.
    ///
    /// # Errors
    /// A path that cannot be one, or a fault of the disk.
    pub fn add(&mut self, path: &str, incoming: Incoming) -> Result<String, Fault> {
        if let Some(why) = wrong(path) {
            return Err(Fault::new("E052", path, why));
        }
        let mut digests = incoming.hashes.finish();
        let sha256 = digests.get(&Algorithm::Sha256).cloned().unwrap_or_default();
        let digest = digests.remove(&self.inventory.algorithm).unwrap_or_default();
        if !self.inventory.manifest.contains_key(&digest) {
            let content = format!("{}/{}/{path}", self.number()?, self.inventory.content_directory);
            self.keep(&content, incoming.file)?;
            self.inventory.manifest.insert(digest.clone(), vec![content.clone()]);
            let fixity =
                self.inventory.fixity.entry(Algorithm::Sha256.name().to_owned()).or_default();
            fixity.entry(sha256.clone()).or_default().push(content);
        }
        self.state.insert(path.to_owned(), digest.clone());
        Ok(digest)
    }

    fn keep(&self, content: &str, file: tempfile::NamedTempFile) -> Result<(), Fault> {
        let path = self.staging.path().join(content);
        let directory = path.parent().unwrap_or(&path);
        fs::create_dir_all(directory).at(directory)?;
        file.as_file().sync_all().at(&path)?;
        readable(file.as_file()).at(&path)?;
        file.persist_noclobber(&path).map_err(|error| error.error).at(&path)?;
        Ok(())
    }

    /// Makes bytes a file of the version.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_bytes(&mut self, path: &str, bytes: &[u8]) -> Result<String, Fault> {
        let mut incoming = self.incoming()?;
        incoming.write_all(bytes).at(self.staging.path())?;
        self.add(path, incoming)
    }

    /// Makes a content that the object has already a file of the version.
    pub fn add_known(&mut self, path: &str, digest: &str) {
        self.state.insert(path.to_owned(), digest.to_owned());
    }

    /// Ends the version with the files that were added since the one before.
    ///
    /// # Errors
    /// A fault of the disk, or no number that is left.
    pub fn end_version(&mut self, stamp: Stamp) -> Result<(), Fault> {
        let number = self.number()?;
        let Stamp { created, message, user } = stamp;
        let state = std::mem::take(&mut self.state);
        self.inventory.versions.push(Version { created, message, user, state });
        self.inventory.head = number;
        let directory = self.staging.path().join(number.to_string());
        fs::create_dir_all(&directory).at(&directory)?;
        self.write_inventory(&directory)
    }

    /// The number of the version that is being written.
    fn number(&self) -> Result<VersionNumber, Fault> {
        let next = match self.inventory.versions.is_empty() {
            true => Some(VersionNumber::FIRST),
            false => self.inventory.head.next(),
        };
        next.ok_or_else(|| Fault::new("E012", &self.inventory.id, "no version number is left"))
    }

    fn write_inventory(&self, directory: &Path) -> Result<(), Fault> {
        let text = self.inventory.text();
        settle::write(directory, self.inventory.algorithm, &text)
    }

    /// Makes the versions part of the object.
    ///
    /// # Errors
    /// If the object already exists, or on an error of the disk.
    pub fn publish(self) -> Result<(), Fault> {
        if self.published > 0 { self.publish_versions() } else { self.publish_object() }
    }

    fn publish_object(self) -> Result<(), Fault> {
        let directory = self.staging.path();
        self.write_inventory(directory)?;
        let (name, text) = declaration(self.inventory.spec);
        write(&directory.join(name), text.as_bytes())?;
        sync_tree(directory)?;
        let above = self.target.parent().unwrap_or(&self.target);
        fs::create_dir_all(above).at(above)?;
        open_to_readers(directory).at(directory)?;
        fs::rename(directory, &self.target).at(&self.target)?;
        // It has moved: there is nothing to remove.
        let _ = self.staging.keep();
        sync(above)
    }

    fn publish_versions(self) -> Result<(), Fault> {
        sync_tree(self.staging.path())?;
        for number in self.inventory.numbers().skip(self.published) {
            let (from, to) = (
                self.staging.path().join(number.to_string()),
                self.target.join(number.to_string()),
            );
            fs::rename(&from, &to).at(&to)?;
        }
        sync(&self.target)?;
        settle::write(&self.target, self.inventory.algorithm, &self.inventory.text())
    }
}

/// Writes a file, and syncs it.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    let mut file = File::create(path).at(path)?;
    file.write_all(bytes).at(path)?;
    file.sync_all().at(path)
}

pub(crate) fn sync(directory: &Path) -> Result<(), Fault> {
    File::open(directory).and_then(|directory| directory.sync_all()).at(directory)
}

fn sync_tree(directory: &Path) -> Result<(), Fault> {
    for entry in walkdir::WalkDir::new(directory).into_iter().flatten() {
        if entry.file_type().is_dir() {
            sync(entry.path())?;
        }
    }
    Ok(())
}

/// Temporary files and directories are private to their owner; published ones get the usual permissions.
#[cfg(unix)]
fn readable(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(unix)]
fn open_to_readers(directory: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn readable(_: &File) -> std::io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn open_to_readers(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// The names that an inventory and its sidecar have in a directory.
pub(super) fn inventory_files(
    directory: &Path,
    algorithm: Algorithm,
    text: &[u8],
) -> [(PathBuf, Vec<u8>); 2] {
    let sidecar = sidecar_text(algorithm, text).into_bytes();
    [(directory.join(INVENTORY), text.to_vec()), (directory.join(sidecar_name(algorithm)), sidecar)]
}
