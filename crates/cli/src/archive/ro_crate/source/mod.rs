//! Where the bytes of a crate are read: a directory (`directory`), or a zip (`zip`).
//!
//! The format of zips is left to the crate `zip` (deflate only): it is maintained, depends on little else, knows 64-bit sizes, reads no more
//! than the directory of a zip to open it, and finds names that are there twice, entries that overlap and headers that disagree.
//!
//! Invariant: what is read here has places in the crate only; links, and names that lead elsewhere, are refused.

mod directory;
mod zip;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cenote_client::transfer::LocalFile;
use sha2::{Digest, Sha256};

use self::zip::Zip;
use crate::archive::names::Place;
use crate::archive::wrong;
use crate::error::{CliError, Kind, Result};

/// The most that the metadata may have, in bytes.
const LARGEST: u64 = 1 << 30;
/// How much is read at a time.
const CHUNK: usize = 256 << 10;

/// A crate that is read.
#[derive(Clone)]
pub(super) enum Source {
    Directory(PathBuf),
    Zip(Arc<Mutex<Zip>>),
}

/// The bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bytes {
    pub(super) size: u64,
    /// In lower-case hexadecimal digits.
    pub(super) sha256: String,
}

/// The files of a crate, with their bytes, and its directories, with none.
pub(super) type Found = BTreeMap<Place, Option<Bytes>>;

/// A file of a crate on the local disk, for as long as this is kept.
pub(super) struct Local {
    pub(super) file: LocalFile,
    /// Removes what was unpacked.
    _unpacked: Option<tempfile::TempDir>,
}

impl Source {
    /// A file is a zip.
    ///
    /// # Errors
    /// [`Kind::Mismatch`] if it is a zip that is not safe to read.
    pub(super) fn open(path: &Path) -> Result<Self> {
        match path.is_file() {
            true => Ok(Self::Zip(Arc::new(Mutex::new(Zip::open(path)?)))),
            false => Ok(Self::Directory(path.to_owned())),
        }
    }

    /// Reads all files, but for the metadata and the preview; blocks.
    ///
    /// # Errors
    /// [`Kind::Mismatch`] if one is damaged, or is neither a file nor a directory.
    pub(super) fn read(&self) -> Result<Found> {
        match self {
            Self::Directory(directory) => directory::read(directory),
            Self::Zip(zip) => zip.lock().unwrap_or_else(PoisonError::into_inner).read_all(),
        }
    }

    /// What the metadata is; blocks.
    pub(super) fn metadata(&self) -> Result<Vec<u8>> {
        match self {
            Self::Directory(directory) => directory::metadata(directory),
            Self::Zip(zip) => zip.lock().unwrap_or_else(PoisonError::into_inner).metadata(),
        }
    }

    /// A file on the local disk: itself, or unpacked to the directory for temporary files.
    pub(super) async fn local(&self, place: &Place) -> Result<Local> {
        let (source, place) = (self.clone(), place.clone());
        let local = tokio::task::spawn_blocking(move || match source {
            Self::Directory(directory) => {
                let file = LocalFile::new(&directory.join(place.text()))?;
                Ok(Local { file, _unpacked: None })
            }
            Self::Zip(zip) => {
                let unpacked = tempfile::tempdir()?;
                let path = unpacked.path().join("file");
                zip.lock().unwrap_or_else(PoisonError::into_inner).unpack(&place, &path)?;
                Ok(Local { file: LocalFile::new(&path)?, _unpacked: Some(unpacked) })
            }
        });
        local.await.map_err(wrong)?
    }
}

/// Reads to the end; at most as many bytes as there should be, and one more.
fn digest(reader: impl Read, size: u64) -> std::io::Result<Bytes> {
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    let mut reader = reader.take(size.saturating_add(1));
    let mut read = 0;
    loop {
        match reader.read(&mut chunk)? {
            0 => break,
            length => {
                hasher.update(&chunk[..length]);
                read += length as u64;
            }
        }
    }
    let sha256 = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Bytes { size: read, sha256 })
}

/// A crate of which nothing is brought.
pub(super) fn refused(what: &str, why: &str) -> CliError {
    CliError::new(Kind::Mismatch, format!("{what}: {why}")).hint("nothing was imported")
}
