//! The directory of backups.
//!
//! ```text
//! DIR/backup.toml        format = 1
//! DIR/backup.lock        held by the one process that changes the directory
//! DIR/catalogs/TIME.rows the rows of a catalog, by the time at which it was taken
//! DIR/contents/          the blobs of all of them: a place, as in a store
//! ```
//!
//! Invariant: nobody but the owner of the directory may read anything in it.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use cenote_blob::{Place, make_private};
use cenote_kv::Row;
use futures_util::TryStreamExt;

use super::frames::{Frame, FrameReader, damaged};
use crate::catalog::keys;
use crate::model::Time;
use crate::{BlobId, Error, ErrorKind, Result};

const SETTINGS: &str = "backup.toml";
const NEW_SETTINGS: &str = "backup.toml.new";
const LOCK: &str = "backup.lock";
const CATALOGS: &str = "catalogs";
const CONTENTS: &str = "contents";
const ROWS: &str = "rows";
const NEW: &str = "new";
const FORMAT: &str = "format = 1\n";
/// Bytes that are read of a file at once.
const PIECE: usize = 1 << 20;

/// A directory of backups, which is this process's alone.
#[derive(Debug)]
pub struct BackupDir {
    dir: PathBuf,
    pub(super) place: Place,
    _lock: File,
}

/// A catalog in a directory of backups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogInfo {
    /// Its name: the time at which it was taken, in UTC.
    pub name: String,
    /// The bytes of its file.
    pub size: u64,
}

impl BackupDir {
    /// The directory of backups; it is made if it is missing or empty.
    ///
    /// # Errors
    /// [`ErrorKind::Exists`] if something else is there.
    pub fn create(dir: &Path) -> Result<Self> {
        if !dir.join(SETTINGS).exists() {
            fs::create_dir_all(dir).map_err(|error| failed(dir, &error))?;
            require_vacant(dir)?;
            make_dir(dir).map_err(|error| failed(dir, &error))?;
        }
        Self::open(dir)
    }

    /// The directory of backups that is there.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none; [`ErrorKind::Unavailable`] if another process has it open.
    pub fn open(dir: &Path) -> Result<Self> {
        match fs::read_to_string(dir.join(SETTINGS)) {
            Ok(text) if text == FORMAT => {}
            Ok(_) => return Err(unknown(dir)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing(dir)),
            Err(error) => return Err(failed(dir, &error)),
        }
        let lock = lock(dir)?;
        let place = Place::local("backup", dir.join(CONTENTS))?;
        Ok(Self { dir: dir.to_owned(), place, _lock: lock })
    }

    /// The catalogs that are there, the newest one last.
    pub fn catalogs(&self) -> Result<Vec<CatalogInfo>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.dir.join(CATALOGS)).map_err(|e| failed(&self.dir, &e))? {
            let entry = entry.map_err(|error| failed(&self.dir, &error))?;
            let path = entry.path();
            let size = entry.metadata().map_err(|error| failed(&path, &error))?.len();
            if let (Some(name), true) = (path.file_stem(), path.extension() == Some(ROWS.as_ref()))
            {
                found.push(CatalogInfo { name: name.to_string_lossy().into_owned(), size });
            }
        }
        found.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(found)
    }

    /// The catalog of this name, or the newest one.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if it is not there.
    pub fn catalog(&self, name: Option<&str>) -> Result<CatalogInfo> {
        let catalogs = self.catalogs()?.into_iter();
        let found = match name {
            Some(name) => catalogs.into_iter().find(|catalog| catalog.name == name),
            None => catalogs.last(),
        };
        found.ok_or_else(|| {
            let what =
                name.map_or("no backup is finished".to_owned(), |name| format!("no backup {name}"));
            Error::new(ErrorKind::NotFound, format!("{what} in {}", self.dir.display()))
                .with_hint("see what is there with `cenote backup ls`")
        })
    }

    /// Removes all catalogs but so many of the newest ones, and the blobs that none of the others names; returns how many of each.
    pub async fn prune(&self, keep: usize) -> Result<(u64, u64)> {
        let catalogs = self.catalogs()?;
        let (old, kept) = catalogs.split_at(catalogs.len().saturating_sub(keep.max(1)));
        let mut used = HashSet::new();
        for catalog in kept {
            self.blobs_in(&self.file(&catalog.name), &mut |id, _| {
                used.insert(id);
                Ok(())
            })?;
        }
        for catalog in old {
            let file = self.file(&catalog.name);
            fs::remove_file(&file).map_err(|error| failed(&file, &error))?;
        }
        Ok((old.len() as u64, self.remove_unused(&used).await?))
    }

    async fn remove_unused(&self, used: &HashSet<BlobId>) -> Result<u64> {
        let (mut stored, mut removed) = (self.place.list(), 0);
        while let Some(blob) = stored.try_next().await? {
            if !used.contains(&blob.id) {
                self.place.delete(blob.id).await?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Passes on the records of the blobs that a catalog names. They come early in its file, and the rest is not read.
    pub(super) fn blobs_in(
        &self,
        path: &Path,
        take: &mut dyn FnMut(BlobId, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let (range, mut over) = (keys::blobs(), false);
        self.frames(path, &mut |frame| {
            let Frame::Rows(rows) = frame else { return Ok(true) };
            for (key, value) in rows {
                over |= range.end.as_ref().is_some_and(|end| key >= end);
                if let (true, Some(id)) = (range.contains(key), keys::blob_id(key)) {
                    take(id, value)?;
                }
            }
            Ok(!over)
        })
    }

    /// Passes on the frames of a file, as long as more are wanted.
    pub(super) fn frames(
        &self,
        path: &Path,
        take: &mut dyn FnMut(&Frame) -> Result<bool>,
    ) -> Result<()> {
        let mut file = File::open(path).map_err(|error| failed(path, &error))?;
        let (mut reader, mut piece) = (FrameReader::default(), vec![0; PIECE]);
        let mut ended = false;
        loop {
            let read = file.read(&mut piece).map_err(|error| failed(path, &error))?;
            reader.push(&piece[..read]);
            while let Some(frame) = reader.next_frame()? {
                ended = matches!(frame, Frame::End(_));
                if !take(&frame)? {
                    return Ok(());
                }
            }
            if read == 0 {
                let whole = ended && reader.is_empty();
                return if whole { Ok(()) } else { Err(damaged()) };
            }
        }
    }

    /// The file of a catalog.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.dir.join(CATALOGS).join(format!("{name}.{ROWS}"))
    }

    /// The file of a catalog that is not finished.
    pub(super) fn new_file(&self) -> PathBuf {
        self.dir.join(CATALOGS).join(NEW)
    }

    /// Gives a finished catalog its name, durably.
    pub(super) fn keep(&self, taken: Time) -> Result<CatalogInfo> {
        let name = name_of(taken);
        let file = self.file(&name);
        let keep = || {
            fs::rename(self.new_file(), &file)?;
            File::open(self.dir.join(CATALOGS))?.sync_all()?;
            File::open(&self.dir)?.sync_all()?;
            Ok(file.metadata()?.len())
        };
        let size = keep().map_err(|error: io::Error| failed(&file, &error))?;
        Ok(CatalogInfo { name, size })
    }
}

/// `2026-11-24T20:56:20.123456789Z`: names sort by time.
fn name_of(taken: Time) -> String {
    let nanos = i128::from(taken.nanos());
    let time = jiff::Timestamp::from_nanosecond(nanos).unwrap_or_default();
    format!("{time:.9}")
}

/// Writes the settings last, so that a directory that has them is whole.
fn make_dir(dir: &Path) -> io::Result<()> {
    make_private(dir)?;
    fs::create_dir_all(dir.join(CATALOGS))?;
    let new = dir.join(NEW_SETTINGS);
    let mut file = File::create(&new)?;
    file.write_all(FORMAT.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, dir.join(SETTINGS))?;
    File::open(dir)?.sync_all()
}

fn require_vacant(dir: &Path) -> Result<()> {
    for entry in fs::read_dir(dir).map_err(|error| failed(dir, &error))? {
        let name = entry.map_err(|error| failed(dir, &error))?.file_name();
        if [CATALOGS, CONTENTS, LOCK, NEW_SETTINGS].iter().all(|own| name != *own) {
            return Err(Error::exists(format!("the directory is not empty: {}", dir.display()))
                .with_hint("use an empty directory, or one that does not exist yet"));
        }
    }
    Ok(())
}

fn lock(dir: &Path) -> Result<File> {
    let path = dir.join(LOCK);
    let file = File::options().create(true).append(true).open(&path);
    let file = file.map_err(|error| failed(&path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let message = format!("another process uses the backups: {}", dir.display());
            Err(Error::new(ErrorKind::Unavailable, message)
                .with_hint("try again when it has ended"))
        }
        Err(TryLockError::Error(error)) => Err(failed(&path, &error)),
    }
}

fn unknown(dir: &Path) -> Error {
    Error::new(ErrorKind::Unavailable, format!("unknown format of backups: {}", dir.display()))
        .with_hint("use a newer cenote")
}

fn missing(dir: &Path) -> Error {
    Error::new(ErrorKind::NotFound, format!("no backups are in {}", dir.display()))
        .with_hint("make one with `cenote backup create`")
}

/// The error for a file that could not be read or written.
pub(super) fn failed(path: &Path, error: &io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::NoSpace,
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind, format!("{}: {error}", path.display()))
        .with_hint("check that the directory is readable and writable, and has space")
}

/// A row of a frame.
pub(super) type Taken<'a> = &'a mut dyn FnMut(Row) -> Result<()>;
