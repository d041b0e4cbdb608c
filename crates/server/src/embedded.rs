//! The store that lives in one directory: which engine and which places, and who may open it.
//!
//! ```text
//! DIR/store.toml   the version of this layout, and what the store may reach outside
//! DIR/store.lock   held by the one process that has the store open
//! DIR/catalog/     the catalog (fjall)
//! DIR/contents/    the contents
//! ```
//!
//! Invariant: nobody but the owner of the directory may read anything in it.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cenote_blob::{Place, make_all_private, make_file_private, make_private};
use cenote_kv::{FjallEngine, FjallOptions};
use cenote_store::{At, AttributeChange, ChangeSetLimits, Parts, ResourceId, Store};
use serde::{Deserialize, Serialize};

use crate::listen::descriptors_for_catalog;
use crate::opener::UrlOpener;

/// Why a directory does not become an open store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no store.
    #[error("no store is in {0}")]
    Missing(PathBuf),
    /// There is one already.
    #[error("a store is in {0} already")]
    Exists(PathBuf),
    /// The directory has something else in it.
    #[error("the directory is not empty: {0}")]
    Occupied(PathBuf),
    /// Another process has it open.
    #[error("another process has the store open: {0}")]
    Locked(PathBuf),
    /// A later program made it.
    #[error("the store has layout {found}, and this program knows {FORMAT}")]
    TooNew {
        /// The version found.
        found: u32,
    },
    /// `store.toml` is not what it should be.
    #[error("{0} cannot be understood: {1}")]
    Settings(PathBuf, String),
    /// The directory cannot be read or written.
    #[error("{0}: {1}")]
    Io(PathBuf, #[source] io::Error),
    /// The contents cannot be opened.
    #[error(transparent)]
    Contents(#[from] cenote_blob::Error),
    /// The catalog cannot be opened.
    #[error(transparent)]
    Catalog(#[from] cenote_kv::Error),
    /// The store refuses.
    #[error(transparent)]
    Store(#[from] cenote_store::Error),
}

impl OpenError {
    /// Whether the catalog is damaged: it is not what was written, or commits are missing.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Catalog(cenote_kv::Error::Corrupt(_)))
    }
}

/// The version of the layout that this program writes.
const FORMAT: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
struct Settings {
    format: u32,
    #[serde(flatten)]
    opener: UrlOpener,
}

/// An open store; no other process can open it while this lives.
#[derive(Debug)]
pub struct Embedded {
    store: Store,
    _lock: File,
}

impl Embedded {
    /// The store. A clone of it must not outlive `self`.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Has the root say for how many seconds what is removed is kept, as its owner `admin`.
    pub fn keep_removed(&self, admin: &str, seconds: u64) -> Result<(), OpenError> {
        let (id, _) = self.store.person_named(admin)?;
        let keep_removed = Some(Some(seconds));
        let change = AttributeChange { keep_removed, ..AttributeChange::default() };
        let root = At::Id(ResourceId::ROOT);
        self.store.set_attributes(&self.store.caller_for(id)?, &root, &change)?;
        Ok(())
    }
}

/// Makes a store in a directory that is missing or empty, with its first administrator.
pub fn init_dir(dir: impl AsRef<Path>, admin: &str, password: &str) -> Result<Embedded, OpenError> {
    let dir = dir.as_ref();
    fs::create_dir_all(dir).map_err(|error| io_error(dir, error))?;
    if dir.join(SETTINGS).exists() {
        return Err(OpenError::Exists(dir.to_owned()));
    }
    check_empty(dir)?;
    make_private(dir).map_err(|error| io_error(dir, error))?;
    let lock = lock(dir)?;
    let store = Store::create_new(parts(dir, UrlOpener::default())?, admin, password)?;
    write_settings(dir)?;
    Ok(Embedded { store, _lock: lock })
}

/// Opens the store in a directory.
pub fn open_dir(dir: impl AsRef<Path>) -> Result<Embedded, OpenError> {
    open_dir_with(dir, ChangeSetLimits::default())
}

/// The same with these limits of change sets.
pub fn open_dir_with(
    dir: impl AsRef<Path>,
    change_sets: ChangeSetLimits,
) -> Result<Embedded, OpenError> {
    let dir = dir.as_ref();
    let settings = read_settings(dir)?;
    let lock = lock(dir)?;
    if let Err(error) = close_to_others(dir) {
        tracing::warn!(target: "cenote", %error, "others may be able to read the store's files");
    }
    let parts = Parts { change_sets, ..parts(dir, settings.opener)? };
    let store = Store::open_existing(parts)?;
    Ok(Embedded { store, _lock: lock })
}

/// Makes the store in a directory one that opens again, where its last commits are missing, and says which are lost. For a
/// store that is whole this is nothing.
pub fn salvage_dir(dir: impl AsRef<Path>) -> Result<Option<String>, OpenError> {
    let dir = dir.as_ref();
    read_settings(dir)?;
    let _lock = lock(dir)?;
    let (_, lost) = FjallEngine::salvage(dir.join(CATALOG), FjallOptions::default())?;
    Ok(lost)
}

const SETTINGS: &str = "store.toml";
const LOCK: &str = "store.lock";
const CATALOG: &str = "catalog";
const CONTENTS: &str = "contents";

fn parts(dir: &Path, opener: UrlOpener) -> Result<Parts, OpenError> {
    let options = FjallOptions { files: descriptors_for_catalog(), ..FjallOptions::default() };
    let engine = FjallEngine::open(dir.join(CATALOG), options)?;
    let place = Place::local("main", dir.join(CONTENTS))?;
    Ok(Parts { opener: Arc::new(opener.for_store(dir)), ..Parts::new(engine, place) })
}

/// Keeps others out of a store that an earlier program made. The place of contents does so for itself.
fn close_to_others(dir: &Path) -> io::Result<()> {
    make_private(dir)?;
    for file in [SETTINGS, LOCK] {
        make_file_private(&dir.join(file))?;
    }
    let contents = dir.join(CONTENTS);
    if contents.is_dir() {
        make_private(&contents)?;
    }
    make_all_private(&dir.join(CATALOG))
}

/// Whether [`init_dir`] could make a store there: the directory is missing or empty, or has what an interrupted call left.
pub fn is_vacant(dir: impl AsRef<Path>) -> bool {
    let dir = dir.as_ref();
    let missing = || fs::symlink_metadata(dir).is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
    !dir.join(SETTINGS).exists() && (missing() || check_empty(dir).is_ok())
}

/// An interrupted `init_dir` may be run again: it leaves no settings, and nothing but our own names.
fn check_empty(dir: &Path) -> Result<(), OpenError> {
    let ours = [CATALOG, CONTENTS, LOCK, NEW_SETTINGS];
    for entry in fs::read_dir(dir).map_err(|error| io_error(dir, error))? {
        let name = entry.map_err(|error| io_error(dir, error))?.file_name();
        if ours.iter().all(|our| name != *our) {
            return Err(OpenError::Occupied(dir.to_owned()));
        }
    }
    Ok(())
}

fn read_settings(dir: &Path) -> Result<Settings, OpenError> {
    let path = dir.join(SETTINGS);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(OpenError::Missing(dir.to_owned()));
        }
        text => text.map_err(|error| io_error(&path, error))?,
    };
    let settings: Settings = toml::from_str(&text)
        .map_err(|error| OpenError::Settings(path, error.message().to_owned()))?;
    match settings.format {
        ..=FORMAT => Ok(settings),
        found => Err(OpenError::TooNew { found }),
    }
}

const NEW_SETTINGS: &str = "store.toml.new";

/// The last step of making a store: once the file is there, the store is.
fn write_settings(dir: &Path) -> Result<(), OpenError> {
    let settings = Settings { format: FORMAT, opener: UrlOpener::default() };
    let text = toml::to_string(&settings).expect("a number is TOML");
    let new = dir.join(NEW_SETTINGS);
    let write = || {
        let mut file = File::create(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, dir.join(SETTINGS))?;
        File::open(dir)?.sync_all()
    };
    write().map_err(|error| io_error(dir, error))
}

/// The kernel lets go of the lock when the process ends, in whatever way.
fn lock(dir: &Path) -> Result<File, OpenError> {
    let path = dir.join(LOCK);
    let file = File::options().create(true).append(true).open(&path);
    let file = file.map_err(|error| io_error(&path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::Locked(dir.to_owned())),
        Err(TryLockError::Error(error)) => Err(io_error(&path, error)),
    }
}

fn io_error(path: &Path, error: io::Error) -> OpenError {
    OpenError::Io(path.to_owned(), error)
}
