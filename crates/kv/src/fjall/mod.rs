//! The embedded engine: a log-structured merge tree on local disk.
//!
//! Invariants kept here and below: only the leader of a commit group writes
//! ([`queue`]); a group is one atomic write that carries its version, on disk in the log before it is
//! acknowledged ([`commit`], [`log`]); keys that begin with 0xff are the engine's own ([`layout`]).

mod commit;
mod directory;
mod journal;
mod layout;
mod lock;
mod log;
mod queue;
mod snapshot;
mod space;
mod steps;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use fjall::config::PartitioningPolicy;
use fjall::{Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions, PersistMode};

use self::journal::Cut;
use self::lock::DirectoryLock;
use self::log::{Group, Log};
use self::queue::Queue;
use self::snapshot::FjallSnapshot;
use self::space::Reserve;
#[cfg(feature = "conformance")]
pub use self::steps::Step;
use self::steps::Steps;
use crate::{Batch, CommitError, Engine, Error, Result, Snapshot, Token, Version};

/// What a deployment may choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FjallOptions {
    /// Memory for blocks read from disk, in bytes.
    pub cache: u64,
    /// Disk space kept back for the catalog in a file of its own, in bytes; 0 for none. Of use
    /// above 64 MiB, which always stay free; held only where eight times as much is free.
    pub reserve: u64,
}

impl Default for FjallOptions {
    fn default() -> Self {
        Self { cache: 32 << 20, reserve: 192 << 20 }
    }
}

/// Keeps the catalog in a directory of its own.
#[derive(Debug)]
pub struct FjallEngine {
    store: Arc<Store>,
    queue: Queue,
    log: Mutex<Log>,
    reserve: Reserve,
    latched: AtomicBool,
    steps: Steps,
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
    /// Opens the store in `dir`, and makes it if there is none.
    ///
    /// Answers [`Error::Locked`] while anyone else has it open, and [`Error::Corrupt`] if what
    /// is there cannot be read.
    pub fn open(dir: impl AsRef<Path>, options: FjallOptions) -> Result<Self> {
        let dir = dir.as_ref();
        directory::make_durable(dir).map_err(io)?;
        let lock = DirectoryLock::acquire(dir)?;
        lock::clear_unfinished_creation(dir)?;
        let (log, groups) = Log::open(dir).map_err(io)?;
        Ok(Self {
            store: Arc::new(open_store(dir, options.cache, lock, groups)?),
            queue: Queue::default(),
            log: Mutex::new(log),
            reserve: Reserve::open(dir, options.reserve),
            latched: AtomicBool::new(false),
            steps: Steps::default(),
        })
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

/// Opens the tree, and brings it to where the log is.
fn open_store(dir: &Path, cache: u64, lock: DirectoryLock, groups: Vec<Group>) -> Result<Store> {
    let (database, cut) = open_database(dir, cache, !groups.is_empty())?;
    let rows = database.keyspace("rows", rows_options).map_err(error)?;
    let store = Store { database, rows, _lock: lock };
    match store.catch_up(groups) {
        Ok(()) => Ok(store),
        Err(failed) => {
            drop(store);
            // Damage stays for a person to look at.
            cut.map_or(Ok(()), Cut::undo)?;
            Err(failed)
        }
    }
}

/// Says what was cut off the journal so that it could be opened; `logged` if the log may have that.
fn open_database(dir: &Path, cache: u64, logged: bool) -> Result<(Database, Option<Cut>)> {
    let open = || {
        Database::builder(dir)
            .cache_size(cache)
            .max_journaling_size(JOURNALS)
            .worker_threads(WORKERS)
            .open()
    };
    let failed = match open() {
        Err(failed @ fjall::Error::JournalRecovery(_)) => failed,
        database => return Ok((database.map_err(error)?, None)),
    };
    match journal::cut_tail(dir, logged)? {
        Some(cut) => Ok((open().map_err(error)?, Some(cut))),
        None => Err(error(failed)),
    }
}

impl Store {
    /// Applies the groups that the tree has not. All is in the tree durably then, so that the log may be written over.
    fn catch_up(&self, groups: Vec<Group>) -> Result<()> {
        let mut version = snapshot::version(self, &self.database.snapshot())?;
        for group in groups {
            if group.after <= version {
                continue;
            }
            if group.before != version || group.is_settled() {
                let lost = format!("commits {} to {} are lost", version + 1, group.after);
                return Err(Error::Corrupt(lost));
            }
            version = group.after;
            self.write(group.rows, None).map_err(error)?;
        }
        self.sync().map_err(error)
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

    /// Makes all that was written durable.
    fn sync(&self) -> fjall::Result<()> {
        self.database.persist(PersistMode::SyncData)
    }
}

fn rows_options() -> KeyspaceCreateOptions {
    let apart = KvSeparationOptions::default().separation_threshold(APART);
    KeyspaceCreateOptions::default()
        .max_memtable_size(MEMTABLE)
        .with_kv_separation(Some(apart))
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

    fn outcome(&self, token: &Token) -> Result<Option<Version>> {
        match self.find_token(token)? {
            None if self.is_latched() => Err(Error::Undecided),
            version => Ok(version),
        }
    }
}

/// Tells what the caller should do about a failure of the tree.
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
