//! Key sets in local files.
//!
//! Invariant: a reader of the file sees the old or the new content, never a mixture; and what another program wrote
//! after this one read the file is never lost: the file is replaced only if it is still the one that was read.

mod content;

use std::fs::{File, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bytes::Bytes;
use tempfile::NamedTempFile;

/// Why a file could not be read or replaced.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// What went wrong.
    pub source: FileFault,
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileFault {
    /// The operating system returned an error.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Another program changed the file after it was read.
    #[error("the file was changed since it was read: read it again and repeat the change")]
    Changed,
    /// The new content could not be produced.
    #[error(transparent)]
    Write(#[from] crate::WriteError),
}

/// The state of a file when it was read.
#[derive(Debug)]
pub struct Snapshot {
    path: PathBuf,
    /// `None` if the file did not exist.
    stamp: Option<Stamp>,
}

/// Properties that change whenever a file's content does.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
    /// Device, inode, and when the inode last changed.
    inode: (u64, u64, i64, i64),
}

impl Snapshot {
    /// Reads a file; a missing one has no bytes. A symbolic link is followed, also when the file is replaced.
    ///
    /// # Errors
    /// If the file exists but cannot be read.
    pub fn read(path: &Path) -> Result<(Option<Bytes>, Self), FileError> {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        match read_stamped(&path) {
            Ok((bytes, stamp)) => Ok((Some(bytes), Self { path, stamp: Some(stamp) })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok((None, Self { path, stamp: None }))
            }
            Err(error) => Err(FileError { path, source: error.into() }),
        }
    }

    /// Takes a snapshot of a file, or of its absence, without reading it.
    ///
    /// # Errors
    /// If the file exists but its metadata cannot be read.
    pub fn of(path: &Path) -> Result<Self, FileError> {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        match std::fs::metadata(&path) {
            Ok(about) => Ok(Self { path, stamp: Some(Stamp::of(&about)) }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self { path, stamp: None }),
            Err(error) => Err(FileError { path, source: error.into() }),
        }
    }

    /// Replaces the file with what `write` writes, durably and atomically, keeping its permissions and owner.
    ///
    /// # Errors
    /// If the file has changed since it was read, if `write` fails, or on a system error; the file is then unchanged.
    pub fn replace(
        self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), crate::WriteError>,
    ) -> Result<(), FileError> {
        self.try_replace(write).map_err(|source| FileError { path: self.path, source })
    }

    fn try_replace(
        &self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), crate::WriteError>,
    ) -> Result<(), FileFault> {
        let directory = match self.path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        // A new file gets the mode that the umask leaves; a replacement reveals nothing to others before it has the
        // old file's permissions.
        let mode = if self.stamp.is_some() { 0o600 } else { 0o666 };
        let mut new = tempfile::Builder::new()
            .prefix(".cenote-")
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(directory)?;
        write(new.as_file_mut())?;
        new.as_file().sync_all()?;
        self.put_in_place(new)?;
        Ok(File::open(directory)?.sync_all()?)
    }

    fn put_in_place(&self, new: NamedTempFile) -> Result<(), FileFault> {
        let Some(stamp) = &self.stamp else {
            return new.persist_noclobber(&self.path).map(drop).map_err(|error| {
                match error.error.kind() {
                    io::ErrorKind::AlreadyExists => FileFault::Changed,
                    _ => error.error.into(),
                }
            });
        };
        // A process that waits for this lock finds the new file in place afterwards.
        let old = File::open(&self.path).map_err(|_| FileFault::Changed)?;
        old.lock()?;
        let there = std::fs::metadata(&self.path).map_err(|_| FileFault::Changed)?;
        if Stamp::of(&there) != *stamp {
            return Err(FileFault::Changed);
        }
        take_over(new.as_file(), &there)?;
        new.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

fn read_stamped(path: &Path) -> io::Result<(Bytes, Stamp)> {
    let mut file = File::open(path)?;
    let about = file.metadata()?;
    Ok((content::read_all(&mut file, about.len())?, Stamp::of(&about)))
}

impl Stamp {
    fn of(about: &Metadata) -> Self {
        Self {
            len: about.len(),
            modified: about.modified().ok(),
            inode: (about.dev(), about.ino(), about.ctime(), about.ctime_nsec()),
        }
    }
}

/// Gives a new file the permissions and, if permitted, the owner of the old one.
fn take_over(new: &File, old: &Metadata) -> io::Result<()> {
    let made = new.metadata()?;
    if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
        fchown(new, Some(old.uid()), Some(old.gid()))?;
    }
    new.set_permissions(old.permissions())
}
