//! What a place on a local disk needs beyond an object store: directories that are made durable before the first blob
//! is written, and removal of staged files.
//!
//! # Durability
//!
//! `LocalFileSystem` with fsync syncs a written file, the directory it is renamed into, and the directories that
//! *this* write created. That leaves one gap: a directory created by another writer that has not synced it yet (or
//! was killed before it could) looks complete to the second writer, whose blob would be lost with the directory. So
//! all directories are created and synced when a place is opened, before any blob is written.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::id::BLOBS;
use crate::private::{is_private, make_all_private, make_private};

/// Creates `root` and the 256 directories of its blobs, and makes them durable. Only the owner can read what is in
/// them; directories that an earlier version left open are made private one by one, so that an interrupted run is
/// continued.
pub(crate) fn prepare(root: &Path) -> io::Result<()> {
    let is_new = !root.exists();
    make_durable_dir(root)?;
    if is_new {
        make_private(root)?;
    }
    let blobs = root.join(BLOBS);
    make_durable_dir(&blobs)?;
    make_private(&blobs)?;
    for fan in 0..=u8::MAX {
        let dir = blobs.join(format!("{fan:02x}"));
        make_dir(&dir)?;
        if !is_private(&dir)? {
            make_all_private(&dir)?;
        }
    }
    sync_dir(&blobs)
}

/// Creates `dir` and its missing ancestors, then syncs the entry of each directory up to one that already existed.
fn make_durable_dir(dir: &Path) -> io::Result<()> {
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    if !parent.exists() {
        make_durable_dir(parent)?;
    }
    let existed = dir.is_dir();
    make_dir(dir)?;
    match sync_dir(parent) {
        // If `dir` is in a directory that we may not open, its creator is responsible for syncing it.
        Err(error) if existed && error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        synced => synced,
    }
}

fn make_dir(dir: &Path) -> io::Result<()> {
    match fs::create_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        made => made,
    }
}

fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Writes the staged bytes of the file `blob` to the disk, as far as it exists.
///
/// An optimisation only: the writer's own sync still waits for all of it, and still sees an error that occurred here,
/// since errors are reported to each open file.
pub(crate) fn write_back(blob: PathBuf) {
    let mut staged = blob.into_os_string();
    staged.push("#1");
    let _ = File::open(staged).and_then(|file| file.sync_data());
}

/// Removes the staged files last written before `cutoff`, and returns their number.
pub(crate) fn sweep_staged(root: &Path, cutoff: SystemTime) -> io::Result<u64> {
    let mut removed = 0;
    for fan in fs::read_dir(root.join(BLOBS))? {
        let fan = fan?;
        if fan.file_type()?.is_dir() {
            removed += sweep_dir(&fan.path(), cutoff)?;
        }
    }
    Ok(removed)
}

fn sweep_dir(dir: &Path, cutoff: SystemTime) -> io::Result<u64> {
    let mut removed = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if is_staged(&entry.path()) && is_older(&entry, cutoff)? {
            removed += u64::from(remove(&entry.path())?);
        }
    }
    Ok(removed)
}

/// `LocalFileSystem` stages `name` as `name#1`, `name#2`, …
fn is_staged(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().contains(&b'#'))
}

/// False for a file that its writer has finished or removed in the meantime.
fn is_older(entry: &fs::DirEntry, cutoff: SystemTime) -> io::Result<bool> {
    let modified = unless_gone(entry.metadata())?.map(|found| found.modified()).transpose()?;
    Ok(modified.is_some_and(|modified| modified < cutoff))
}

fn remove(path: &Path) -> io::Result<bool> {
    Ok(unless_gone(fs::remove_file(path))?.is_some())
}

fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// The space of a disk, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// What an unprivileged user may still write.
    pub free: u64,
    /// Its size.
    pub disk: u64,
}

/// The space of the file system of `root`.
pub(crate) fn space(root: &Path) -> io::Result<Space> {
    let found = rustix::fs::statvfs(root)?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
    Ok(Space { free: bytes(found.f_bavail), disk: bytes(found.f_blocks) })
}
