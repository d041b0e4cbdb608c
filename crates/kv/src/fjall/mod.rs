//! The embedded engine: a log-structured merge tree on local disk.
//!
//! Invariants kept here and below: only the leader of a commit group writes
//! ([`crate::queue`]); a group is one atomic write that carries its version, on disk in the log before it is
//! acknowledged ([`commit`], [`log`]), and how far that must reach is found out when it is opened ([`open`]); keys that begin with 0xff are the engine's own ([`layout`]).

mod background;
mod commit;
mod descriptors;
mod directory;
mod files;
mod journal;
mod layout;
mod lock;
mod log;
mod open;
mod reclaim;
mod snapshot;
mod space;
mod steps;
mod versions;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use fjall::config::PartitioningPolicy;
use fjall::{
    AbstractTree as _, Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions, PersistMode,
};

use self::background::{Background, InMemory};
use self::descriptors::Descriptors;
use self::lock::DirectoryLock;
use self::log::Log;
use self::log::mark::Mark;
use self::reclaim::Removed;
use self::snapshot::FjallSnapshot;
#[cfg(feature = "conformance")]
use self::space::Disk;
use self::space::{For, Reserve};
#[cfg(feature = "conformance")]
pub use self::steps::Step;
use self::steps::Steps;
use crate::queue::Queue;
use crate::{Batch, CommitError, Engine, Error, Result, Room, Snapshot, Token, Version};

/// What a deployment may choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FjallOptions {
    /// Memory for blocks read from disk, in bytes.
    pub cache: u64,
    /// Disk space kept back for the catalog in a file of its own, in bytes; 0 for none. Of use
    /// above 64 MiB, which always stay free; held only where eight times as much is free.
    pub reserve: u64,
    /// Files of tables kept open at a time; at least 10. Others are opened when they are read.
    pub files: usize,
}

impl Default for FjallOptions {
    fn default() -> Self {
        Self { cache: 32 << 20, reserve: 192 << 20, files: 256 }
    }
}

/// Whether a catalog is opened whose last commits are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loss {
    Refused,
    Accepted,
}

/// Keeps the catalog in a directory of its own.
#[derive(Debug)]
pub struct FjallEngine {
    store: Arc<Store>,
    queue: Queue,
    acknowledged: Mutex<Acknowledged>,
    reserve: Reserve,
    descriptors: Descriptors,
    removed: Removed,
    latched: AtomicBool,
    steps: Steps,
}

/// Where acknowledged commits are stored.
#[derive(Debug)]
struct Acknowledged {
    log: Log,
    mark: Mark,
    background: Background,
}

/// The open database; snapshots keep it open.
struct Store {
    database: Database,
    rows: Keyspace,
    _lock: DirectoryLock,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

/// Small, so that little is replayed when the store is opened after a crash.
const MEMTABLE: u64 = 16 << 20;
/// The least that fjall accepts, for the same reason.
const JOURNALS: u64 = 64 << 20;
/// Background threads. One of them only flushes and passes on every other message it gets,
/// over and over while the rest are busy: with two in all it takes a core for that.
const WORKERS: usize = 4;
/// Values of this size, in bytes, are kept apart from their keys, so that merging tables does
/// not copy them: contents of small files and large graphs.
const APART: u32 = 4_096;

impl FjallEngine {
    /// Opens the store in `dir`, and creates it if there is none.
    ///
    /// Returns [`Error::Locked`] while another process has it open, and [`Error::Corrupt`] if it cannot be read, or
    /// acknowledged commits are missing. Damage is left unchanged.
    pub fn open(dir: impl AsRef<Path>, options: FjallOptions) -> Result<Self> {
        open::open(dir.as_ref(), options, Loss::Refused).map(|(engine, _)| engine)
    }

    /// Opens the store in `dir` even if commits are missing at its end, and returns what was lost. Their versions are
    /// not assigned again, and unusable data is kept in files that end in `.damaged`.
    pub fn salvage(dir: impl AsRef<Path>, options: FjallOptions) -> Result<(Self, Option<String>)> {
        open::open(dir.as_ref(), options, Loss::Accepted)
    }

    /// Flushes memtables to tables. For tests.
    #[cfg(feature = "conformance")]
    pub fn flush(&self) -> Result<()> {
        self.store.flush().map_err(error)
    }

    /// Takes the free space and the size of the disk, in bytes, from `disk`, and holds back `reserve` bytes in `dir`.
    /// For tests.
    #[cfg(feature = "conformance")]
    #[must_use]
    pub fn with_disk(
        mut self,
        dir: &Path,
        reserve: u64,
        disk: impl Fn() -> (u64, u64) + Send + Sync + 'static,
    ) -> Self {
        self.reserve = Reserve::new(dir, reserve, move || {
            let (free, size) = disk();
            Disk { free, size }
        });
        self
    }

    /// Asks `go_on` at each step of each commit; where it answers false, the commit fails there. For tests, which may
    /// also panic in it, or end the process.
    #[cfg(feature = "conformance")]
    #[must_use]
    pub fn with_steps(mut self, go_on: impl Fn(Step) -> bool + Send + Sync + 'static) -> Self {
        self.steps = Steps::new(go_on);
        self
    }
}

/// Closes the engine: everything is in the tree, durably, and the mark records that. After a failure the state is the
/// same as after a kill.
impl Drop for FjallEngine {
    fn drop(&mut self) {
        let acknowledged = self.acknowledged.get_mut().unwrap_or_else(PoisonError::into_inner);
        if *self.latched.get_mut() || acknowledged.mark.is_closed() {
            return;
        }
        if let (Ok(version), Ok(())) = (self.store.version(), self.store.sync()) {
            let _ = acknowledged.mark.close(version);
        }
    }
}

impl Store {
    /// The newest commit.
    fn version(&self) -> Result<Version> {
        snapshot::version(self, &self.database.snapshot())
    }

    /// Writes rows, all or nothing.
    fn write(&self, rows: log::Rows, durability: Option<PersistMode>) -> fjall::Result<()> {
        let mut batch = self.database.batch().durability(durability);
        for (key, value) in rows {
            match value {
                Some(value) => batch.insert(&self.rows, key, value),
                None => batch.remove(&self.rows, key),
            }
        }
        batch.commit()
    }

    /// The table in memory that is being written to.
    fn table(&self) -> InMemory {
        self.rows.tree.active_memtable()
    }

    /// Makes all that was written durable.
    fn sync(&self) -> fjall::Result<()> {
        self.database.persist(PersistMode::SyncData)
    }
}

/// Which values are kept apart from their keys.
fn rows_apart() -> KvSeparationOptions {
    // All files of such values of which a quarter was removed are rewritten, not only the oldest ones.
    KvSeparationOptions::default().separation_threshold(APART).age_cutoff(1.0)
}

fn rows_options() -> KeyspaceCreateOptions {
    KeyspaceCreateOptions::default()
        .max_memtable_size(MEMTABLE)
        .with_kv_separation(Some(rows_apart()))
        .filter_block_partitioning_policy(parted())
        .index_block_partitioning_policy(parted())
}

/// Filters and indexes are whole, and pinned in memory, in the first level only. Below it they are parted into
/// blocks of some KiB: a whole one has a megabyte or more, which the cache does not keep, so that each get
/// would read it again.
fn parted() -> PartitioningPolicy {
    PartitioningPolicy::new([false, true])
}

impl Engine for FjallEngine {
    fn name(&self) -> &'static str {
        "fjall"
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(FjallSnapshot::new(&self.store)?))
    }

    fn commit(&self, batch: Batch) -> Result<Version, CommitError> {
        self.limits().check(&batch)?;
        self.queue.commit(batch, |group| self.write(group))
    }

    fn has_room(&self) -> bool {
        self.reserve.has_room_for(0, For::Adding)
    }

    fn room(&self) -> Option<Room> {
        let (free, disk) = self.reserve.left();
        Some(Room { free, disk })
    }

    fn reclaim(&self) -> Result<bool> {
        self.merge_removed()
    }

    fn outcome(&self, token: &Token) -> Result<Option<Version>> {
        match self.find_token(token)? {
            None if self.is_latched() => Err(Error::Undecided),
            version => Ok(version),
        }
    }
}

/// Classifies a failure of the tree by what the caller should do.
fn error(error: fjall::Error) -> Error {
    use fjall::LsmError;
    match error {
        fjall::Error::Locked => Error::Locked,
        fjall::Error::Io(error) | fjall::Error::Storage(LsmError::Io(error)) => io(error),
        fjall::Error::Poisoned => Error::Io(Box::new(error)),
        error => Error::Corrupt(error.to_string()),
    }
}

fn io(error: std::io::Error) -> Error {
    Error::Io(Box::new(error))
}
