//! Key sets in local files.
//!
//! Invariant: a reader of the file sees the old or the new content, never a
//! part; and what another program wrote since this one read is never lost: the
//! file is replaced only if it is still the one that was read.

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

/// What went wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileFault {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Another program changed the file after it was read.
    #[error("the file was changed since it was read: read it again and repeat the change")]
    Changed,
    /// The new content could not be made.
    #[error(transparent)]
    Write(#[from] crate::WriteError),
}

/// A file as it was when it was read.
#[derive(Debug)]
pub struct Snapshot {
    path: PathBuf,
    /// None if there was no file.
    stamp: Option<Stamp>,
}

/// What changes when a file's content does.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
    /// Device, inode, and when that last changed.
    inode: (u64, u64, i64, i64),
}

impl Snapshot {
    /// Reads a file; a missing one has no bytes. A symbolic link stands for the
    /// file it leads to, also when that is replaced.
    ///
    /// # Errors
    /// If the file is there but cannot be read.
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

    /// Takes note of a file, or that there is none, without reading it.
    ///
    /// # Errors
    /// If the file is there but nothing can be known of it.
    pub fn of(path: &Path) -> Result<Self, FileError> {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        match std::fs::metadata(&path) {
            Ok(about) => Ok(Self { path, stamp: Some(Stamp::of(&about)) }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self { path, stamp: None }),
            Err(error) => Err(FileError { path, source: error.into() }),
        }
    }

    /// Replaces the file by what `write` writes, durably and at once, with the
    /// old one's permissions and owner.
    ///
    /// # Errors
    /// If the file changed since it was read, if `write` fails, or if the system
    /// refuses; the file is then as it was.
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
        // A new file gets what the umask leaves; one that takes over from another
        // shows nothing to others before it has the other's permissions.
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
        // A process that waits for this lock finds another file in place afterwards.
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

/// Gives a new file the permissions and, if that is allowed, the owner of the old.
fn take_over(new: &File, old: &Metadata) -> io::Result<()> {
    let made = new.metadata()?;
    if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
        fchown(new, Some(old.uid()), Some(old.gid()))?;
    }
    new.set_permissions(old.permissions())
}
