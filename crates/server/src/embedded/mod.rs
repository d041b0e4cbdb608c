//! The store of one directory: which engine and which places, and who may open it.
//!
//! ```text
//! DIR/store.toml   the version of this layout, where the catalog and the contents are, and what the store may reach outside
//! DIR/store.lock   held by the one process that has the directory open
//! DIR/catalog/     the catalog (fjall), unless it is in a database
//! DIR/contents/    the contents, unless they are elsewhere
//! DIR/text/        the index of texts, once somebody searched for words
//! DIR/cache/       what clients have read from buckets, if the settings say so
//! ```
//!
//! Invariant: only the owner of the directory may read anything in it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use cenote_blob::{make_all_private, make_file_private, make_private};
use cenote_kv::{FjallEngine, FjallOptions};
use cenote_store::{At, AttributeChange, ChangeSetLimits, Parts, ResourceId, Store};

pub use self::backing::Backing;
use self::backing::Company;
pub use self::copying::restore_dir;
use self::settings::Settings;

mod backing;
mod copying;
mod settings;

/// Why a directory does not become an open store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no store.
    #[error("there is no store in {0}")]
    Missing(PathBuf),
    /// There was one, which was copied elsewhere.
    #[error("the store in {0} was migrated")]
    Migrated(PathBuf),
    /// There is one already.
    #[error("there is already a store in {0}")]
    Exists(PathBuf),
    /// The directory has something else in it.
    #[error("the directory is not empty: {0}")]
    Occupied(PathBuf),
    /// Another process has it open.
    #[error("another process has the store open: {0}")]
    Locked(PathBuf),
    /// Another server has the catalog open, and it or this process needs it alone.
    #[error("another server has the catalog open")]
    Served,
    /// The catalog in a database is not in this directory.
    #[error("the catalog is in a database: {0}")]
    NotHere(PathBuf),
    /// A later program made it.
    #[error("the store has layout {found}, but this program supports {}", settings::FORMAT)]
    TooNew {
        /// The version found.
        found: u32,
    },
    /// `store.toml` is not what it should be.
    #[error("{0} is invalid: {1}")]
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

/// An open store; no other process can open its directory while this lives.
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

    /// Makes the home of the administrator `admin`, as every other user gets one.
    pub fn make_home(&self, admin: &str) -> Result<(), OpenError> {
        let (id, _) = self.store.person_named(admin)?;
        Ok(self.store.make_home(&self.store.caller_for(id)?, admin)?)
    }

    /// Sets on the root for how many seconds removed resources are kept, as its owner `admin`.
    pub fn keep_removed(&self, admin: &str, seconds: u64) -> Result<(), OpenError> {
        let (id, _) = self.store.person_named(admin)?;
        let keep_removed = Some(Some(seconds));
        let change = AttributeChange { keep_removed, ..AttributeChange::default() };
        let root = At::Id(ResourceId::ROOT);
        self.store.set_attributes(&self.store.caller_for(id)?, &root, &change)?;
        Ok(())
    }
}

/// Where the index of texts of the store in a directory is, unless the settings of a server say otherwise.
pub fn text_dir(dir: impl AsRef<Path>) -> PathBuf {
    dir.as_ref().join(TEXT)
}

/// Creates a store in a directory that is missing or empty, with its first administrator.
pub fn init_dir(dir: impl AsRef<Path>, admin: &str, password: &str) -> Result<Embedded, OpenError> {
    init_dir_with(dir, Backing::default(), admin, password)
}

/// The same with its catalog or its contents elsewhere.
pub fn init_dir_with(
    dir: impl AsRef<Path>,
    backing: Backing,
    admin: &str,
    password: &str,
) -> Result<Embedded, OpenError> {
    let found = |settings: &Settings, dir: &Path| {
        Ok(Store::create_new(settings.parts(dir, Company::None)?, admin, password)?)
    };
    begin_dir(dir.as_ref(), backing, found)
}

/// Creates a directory for an existing store: its catalog is in a database, its contents are not in another directory. Other servers
/// may have it open.
pub fn join_dir(dir: impl AsRef<Path>, backing: Backing) -> Result<Embedded, OpenError> {
    begin_dir(dir.as_ref(), backing, |settings, dir| {
        Ok(Store::open_existing(current(settings, dir)?)?)
    })
}

fn begin_dir(
    dir: &Path,
    backing: Backing,
    begin: impl FnOnce(&Settings, &Path) -> Result<Store, OpenError>,
) -> Result<Embedded, OpenError> {
    let lock = vacant(dir)?;
    let settings = Settings::new(backing);
    let store = begin(&settings, dir)?;
    settings.write(dir)?;
    Ok(Embedded { store, _lock: lock })
}

/// Makes a directory for a store, or takes one that is empty or has what an interrupted call left, and locks it.
fn vacant(dir: &Path) -> Result<File, OpenError> {
    fs::create_dir_all(dir).map_err(|error| io_error(dir, error))?;
    if dir.join(SETTINGS).exists() {
        return Err(OpenError::Exists(dir.to_owned()));
    }
    check_empty(dir)?;
    make_private(dir).map_err(|error| io_error(dir, error))?;
    lock(dir)
}

/// Opens the store of a directory for this process alone, wherever its catalog is.
pub fn open_dir(dir: impl AsRef<Path>) -> Result<Embedded, OpenError> {
    open(dir.as_ref(), |settings, dir| settings.parts(dir, Company::None))
}

/// Opens the store of a directory for a server, with these limits of change sets. If its catalog is in a database, other servers may
/// have it open from directories of their own.
pub fn open_dir_with(
    dir: impl AsRef<Path>,
    change_sets: ChangeSetLimits,
) -> Result<Embedded, OpenError> {
    open(dir.as_ref(), |settings, dir| Ok(Parts { change_sets, ..current(settings, dir)? }))
}

/// What a store is made of that other servers may have open, too. One of a format that cannot be served is upgraded first, alone.
fn current(settings: &Settings, dir: &Path) -> Result<Parts, OpenError> {
    let parts = settings.parts(dir, Company::Servers)?;
    if settings.backing.catalog.is_none() || !Store::must_be_upgraded(&parts)? {
        return Ok(parts);
    }
    drop(parts);
    drop(Store::open_existing(settings.parts(dir, Company::None)?)?);
    settings.parts(dir, Company::Servers)
}

fn open(
    dir: &Path,
    parts: impl FnOnce(&Settings, &Path) -> Result<Parts, OpenError>,
) -> Result<Embedded, OpenError> {
    let settings = Settings::read(dir)?;
    let lock = lock(dir)?;
    if let Err(error) = close_to_others(dir) {
        tracing::warn!(target: "cenote", %error, "others may be able to read the store's files");
    }
    let store = Store::open_existing(parts(&settings, dir)?)?;
    Ok(Embedded { store, _lock: lock })
}

/// Makes a store in a directory usable again if its last commits are missing, and returns which are lost. For a
/// store that is whole this is nothing.
pub fn salvage_dir(dir: impl AsRef<Path>) -> Result<Option<String>, OpenError> {
    let dir = dir.as_ref();
    if Settings::read(dir)?.backing.catalog.is_some() {
        return Err(OpenError::NotHere(dir.to_owned()));
    }
    let _lock = lock(dir)?;
    let (_, lost) = FjallEngine::salvage(dir.join(CATALOG), FjallOptions::default())?;
    Ok(lost)
}

const SETTINGS: &str = "store.toml";
const NEW_SETTINGS: &str = "store.toml.new";
const MIGRATED: &str = "store.toml.migrated";
const LOCK: &str = "store.lock";
const CATALOG: &str = "catalog";
const CONTENTS: &str = "contents";
const TEXT: &str = "text";

/// Makes a store of an earlier program private. The place of contents does so for itself.
fn close_to_others(dir: &Path) -> io::Result<()> {
    make_private(dir)?;
    for file in [SETTINGS, LOCK] {
        make_file_private(&dir.join(file))?;
    }
    let (contents, catalog) = (dir.join(CONTENTS), dir.join(CATALOG));
    if contents.is_dir() {
        make_private(&contents)?;
    }
    if catalog.is_dir() { make_all_private(&catalog) } else { Ok(()) }
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
