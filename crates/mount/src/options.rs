//! How a store is mounted.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::error::Fault;
use crate::layout::Layout;

/// To whom all files appear to belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ownership {
    /// The user's number.
    pub uid: u32,
    /// The group's number.
    pub gid: u32,
}

/// How a mount behaves where other programs differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Manners {
    /// Described in `docs/mount.md`.
    #[default]
    Plain,
    /// As dxfuse does: its modes, error numbers and extended attributes, and numbered directories for objects of one name.
    Dxfuse {
        /// Whether files can be overwritten and changed.
        overwrite: bool,
    },
}

/// Takes the faults that belong in a log.
#[derive(Clone)]
pub struct Log(pub Arc<dyn Fn(&Fault) + Send + Sync>);

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Log").finish_non_exhaustive()
    }
}

/// A cache of contents on the local disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheOptions {
    /// Its directory, which is created if it is missing.
    pub dir: PathBuf,
    /// How many bytes of contents it may have.
    pub limit: u64,
    /// The name of the store, such as its address: several stores can share a cache one after the other.
    pub store: String,
    /// The user of the mount: data seen by one user is not shown to another.
    pub user: String,
}

/// How a store is mounted.
#[derive(Debug, Clone)]
pub struct Options {
    /// The path of the collection that becomes the root of the mount.
    pub root: String,
    /// The places of a mount that shows several resources, instead of one collection; `root` is then the one whose quotas are shown.
    pub layout: Option<Layout>,
    /// How it behaves where other programs differ.
    pub manners: Manners,
    /// Whether files can be changed.
    pub write: bool,
    /// A moment of the past (a time or a position of the change feed): the mount then shows the store as of it.
    pub as_of: Option<String>,
    /// To whom all files appear to belong.
    pub owner: Ownership,
    /// After how long without progress an operation fails.
    pub deadline: Duration,
    /// For how long operations wait for a server that cannot be reached. Once it has been away for longer, they fail at once until it answers.
    pub patience: Duration,
    /// How many bytes are read ahead, of all files together.
    pub read_ahead: u64,
    /// How many bytes that were written may be in memory, of all files together.
    pub write_memory: u64,
    /// How many files and directories are cached at most, but for those in use and, while it is open, those of a directory.
    pub max_nodes: usize,
    /// Whether contents on this machine's disk are read from there, if the server leases them.
    pub local: bool,
    /// Whether the kernel reads such contents itself, where it can: of read-only mounts of root. An open file then
    /// shows its content at the time of opening.
    pub passthrough: bool,
    /// Where contents are kept on the local disk, also after the mount has ended.
    pub cache: Option<CacheOptions>,
    /// Whether only cached data is shown, and the server is not used.
    pub offline: bool,
    /// Where faults are noted.
    pub log: Log,
    /// The current time.
    pub now: fn() -> SystemTime,
}

impl Options {
    /// A read-only mount of the whole store.
    pub fn new(owner: Ownership, now: fn() -> SystemTime) -> Self {
        Self {
            root: "/".to_owned(),
            layout: None,
            manners: Manners::Plain,
            write: false,
            as_of: None,
            owner,
            deadline: Duration::from_secs(30),
            patience: Duration::from_secs(30),
            read_ahead: 128 << 20,
            write_memory: 64 << 20,
            max_nodes: 250_000,
            local: true,
            passthrough: false,
            cache: None,
            offline: false,
            log: Log(Arc::new(|_| {})),
            now,
        }
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.write && self.as_of.is_none()
    }

    /// Whether it behaves as dxfuse.
    pub(crate) fn is_dxfuse(&self) -> bool {
        matches!(self.manners, Manners::Dxfuse { .. })
    }

    /// Whether existing files can be changed, not only new ones created.
    pub(crate) fn is_rewritable(&self) -> bool {
        self.manners != Manners::Dxfuse { overwrite: false }
    }

    pub(crate) fn passes_through(&self) -> bool {
        self.passthrough && self.local && !self.write
    }
}
