//! Where the catalogs of test stores are: in memory and in directories, or in PostgreSQL if `CENOTE_TEST_CATALOG=postgres` says so, so
//! that the tests of every opening run on it unchanged.
//!
//! Each store has a schema of its own in one cluster, which lasts as long as the program; the schema goes with the store.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use cenote_blob::Place;
use cenote_kv::{
    Batch, CommitError, Engine, Found, Limits, MemoryEngine, PostgresEngine, Result, Room,
    Snapshot, Token, Version, Wanted,
};
use cenote_server::embedded::{Backing, Embedded, init_dir_with, open_dir};
use cenote_store::Parts;
use postgres::{Client, NoTls};
use tempfile::TempDir;

use crate::postgres_server::Server;
use crate::support::{ADMIN, allow_vaults};

/// What a test store is made of whose contents are in a place of the test.
pub(crate) fn parts_on(main: Place) -> Parts {
    match Schema::chosen() {
        Some(schema) => Parts::new(Temporary::open(schema), main),
        None => Parts::new(MemoryEngine::default(), main),
    }
}

/// The name of the engine that [`parts_on`] chooses.
pub(crate) fn engine() -> &'static str {
    if is_shared() { "postgres" } else { "memory" }
}

/// Whether other servers may have a test store open. Then a change set with an unknown id may be one of theirs, and contents that
/// nothing refers to any more stay for an hour, since others may be reading them.
pub(crate) fn is_shared() -> bool {
    std::env::var("CENOTE_TEST_CATALOG").is_ok_and(|catalog| match catalog.as_str() {
        "postgres" => true,
        "memory" => false,
        other => panic!("CENOTE_TEST_CATALOG is `memory` or `postgres`, not `{other}`"),
    })
}

/// A store in a directory, beside which there is room for places.
pub(crate) struct Directory {
    dir: TempDir,
    _schema: Option<Schema>,
}

impl Directory {
    /// A new one, whose administrators may add places beside it.
    pub(crate) fn new() -> Self {
        let (dir, schema) = (tempfile::tempdir().unwrap(), Schema::chosen());
        let this = Self { dir, _schema: None };
        let backing = schema.as_ref().map(Schema::backing).unwrap_or_default();
        drop(init_dir_with(this.store(), backing, ADMIN.0, ADMIN.1).unwrap());
        allow_vaults(&this.store(), this.path());
        Self { _schema: schema, ..this }
    }

    /// Where the places may be.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The directory of the store.
    pub(crate) fn store(&self) -> PathBuf {
        self.path().join("store")
    }

    pub(crate) fn open(&self) -> Embedded {
        open_dir(self.store()).unwrap()
    }
}

/// An empty schema in the cluster of this program.
#[derive(Debug)]
pub(crate) struct Schema {
    address: String,
}

impl Schema {
    /// A new one, if the tests run on PostgreSQL.
    fn chosen() -> Option<Self> {
        is_shared().then(Self::new)
    }

    fn new() -> Self {
        static CLUSTER: OnceLock<Server> = OnceLock::new();
        static SCHEMAS: AtomicU64 = AtomicU64::new(0);
        let start = || Server::start_with("-c max_connections=400").expect("PostgreSQL is needed");
        let number = SCHEMAS.fetch_add(1, Ordering::Relaxed);
        let address = aside(|| CLUSTER.get_or_init(start).schema(&format!("test{number}")));
        Self { address }
    }

    /// What a store with this catalog is created with.
    fn backing(&self) -> Backing {
        Backing { catalog: Some(self.address.clone()), ..Backing::default() }
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        // A test that failed may have left somebody who reads: the schema stays until the cluster is removed.
        let remove = "SET lock_timeout = '5s';
            DO $$ BEGIN EXECUTE format('DROP SCHEMA %I CASCADE', current_schema()); END $$";
        aside(|| {
            let removed = Client::connect(&self.address, NoTls)
                .and_then(|mut client| client.batch_execute(remove));
            drop(removed);
        });
    }
}

/// The client of PostgreSQL has a runtime of its own, which does not start on a thread of another one.
fn aside<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(work).join().unwrap())
}

/// An engine whose schema is removed with it.
#[derive(Debug)]
struct Temporary {
    // Dropped first, so that nobody reads the schema any more.
    engine: PostgresEngine,
    _schema: Schema,
}

impl Temporary {
    fn open(schema: Schema) -> Self {
        Self { engine: PostgresEngine::open(&schema.address).unwrap(), _schema: schema }
    }
}

impl Engine for Temporary {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        self.engine.snapshot()
    }

    fn snapshot_with(&self, wanted: &Wanted) -> Result<(Box<dyn Snapshot>, Found)> {
        self.engine.snapshot_with(wanted)
    }

    fn snapshot_to_keep(&self) -> Result<Box<dyn Snapshot>> {
        self.engine.snapshot_to_keep()
    }

    fn commit(&self, batch: Batch) -> Result<Version, CommitError> {
        self.engine.commit(batch)
    }

    fn outcome(&self, token: &Token) -> Result<Option<Version>> {
        self.engine.outcome(token)
    }

    fn limits(&self) -> Limits {
        self.engine.limits()
    }

    fn has_room(&self) -> bool {
        self.engine.has_room()
    }

    fn room(&self) -> Option<Room> {
        self.engine.room()
    }

    fn reclaim(&self) -> Result<bool> {
        self.engine.reclaim()
    }

    fn is_shared(&self) -> bool {
        self.engine.is_shared()
    }

    fn follow(&self, notify: Box<dyn Fn() + Send>) {
        self.engine.follow(notify);
    }
}
