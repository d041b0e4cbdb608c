//! The distributed engine: PostgreSQL, for many servers over one catalog.
//!
//! Invariants kept here: the commits that wait together are one statement, so that no transaction waits for a
//! caller ([`commit`]); commits are put in order by the lock of one row, so that versions
//! become visible in order (`schema.sql`); a snapshot is a read-only transaction on a
//! connection of its own ([`snapshot`]), of which there is a bounded number ([`permits`]); no call waits for ever for an
//! answer ([`client`]).

mod aside;
mod claim;
mod client;
mod commit;
mod connect;
mod failed;
mod joint;
mod listen;
mod permits;
mod pool;
#[cfg(all(test, feature = "conformance"))]
#[path = "../../tests/postgres_server/mod.rs"]
mod postgres_server;
mod sessions;
mod snapshot;

use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};

use self::aside::aside;
use self::claim::{Claim, Hold, Locked};
use self::connect::Address;
use self::failed::error;
use self::permits::Holder;
use self::pool::{Connection, Pool};
use self::snapshot::PostgresSnapshot;
use crate::queue::Queue;
use crate::{Batch, CommitError, Engine, Error, Found, Result, Snapshot, Token, Version, Wanted};

/// Keeps the catalog in a PostgreSQL database (13 or later).
///
/// Calls block on the network, also on a thread that drives an async runtime.
#[derive(Debug)]
pub struct PostgresEngine {
    pool: Pool,
    queue: Queue,
    /// Of an engine that has the catalog alone, or together with others that have claimed it so.
    claim: Option<Claim>,
    /// Those who listen end when these are dropped.
    listening: Mutex<Vec<Sender<()>>>,
}

impl PostgresEngine {
    /// Connects to the database that `address` names (a `postgres://` URL or `key=value` pairs; with `sslmode=require` over TLS,
    /// verified by the certificates in `sslrootcert` or of the system; with at most `pool_max_conns` connections for reads, and answers that are waited for no
    /// longer than `query_timeout`, in seconds), and creates the catalog's tables in the first schema of the search path if they are missing.
    ///
    /// # Errors
    /// Through a pooler that does not keep sessions nothing is opened.
    pub fn open(address: &str) -> Result<Self> {
        let pool = Pool::new(Address::parse(address)?);
        aside(|| {
            sessions::check(&pool)?;
            pool.take()?.create_schema()
        })?;
        Ok(Self::on(pool, None))
    }

    /// The same for one server at a time. If the connection is lost and another server claims the catalog meanwhile,
    /// every commit of this one fails ([`CommitError::Latched`]).
    ///
    /// # Errors
    /// [`Error::Locked`] if another server has the catalog; it is left as it is then.
    pub fn open_alone(address: &str) -> Result<Self> {
        Self::open_held(address, Hold::Alone)
    }

    /// The same for any number of servers, which have the catalog together, and keep away whoever wants it alone.
    ///
    /// # Errors
    /// [`Error::Locked`] if another server has the catalog alone.
    pub fn open_together(address: &str) -> Result<Self> {
        Self::open_held(address, Hold::Together)
    }

    fn open_held(address: &str, hold: Hold) -> Result<Self> {
        let pool = Pool::new(Address::parse(address)?);
        let claim = aside(|| {
            sessions::check(&pool)?;
            let locked = Locked::lock(pool.address(), hold)?.ok_or(Error::Locked)?;
            pool.take()?.create_schema()?;
            locked.claim()
        })?;
        Ok(Self::on(pool, Some(claim)))
    }

    fn on(pool: Pool, claim: Option<Claim>) -> Self {
        Self { pool, queue: Queue::default(), claim, listening: Mutex::default() }
    }
}

impl Engine for PostgresEngine {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn follow(&self, notify: Box<dyn Fn() + Send>) {
        let (listening, ended) = mpsc::channel();
        self.listening.lock().unwrap_or_else(PoisonError::into_inner).push(listening);
        listen::spawn(self.pool.address().clone(), ended, notify);
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        let holder = Holder::here();
        Ok(Box::new(aside(|| PostgresSnapshot::begin(&self.pool, Some(holder)))?))
    }

    fn snapshot_to_keep(&self) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(aside(|| PostgresSnapshot::begin(&self.pool, None))?))
    }

    fn snapshot_with(&self, wanted: &Wanted) -> Result<(Box<dyn Snapshot>, Found)> {
        let holder = Holder::here();
        let (snapshot, found) = aside(|| PostgresSnapshot::begin_with(&self.pool, holder, wanted))?;
        Ok((Box::new(snapshot), found))
    }

    fn commit(&self, batch: Batch) -> Result<Version, CommitError> {
        self.limits().check(&batch)?;
        aside(|| self.queue.commit(batch, |group| self.write(group)))
    }

    fn outcome(&self, token: &Token) -> Result<Option<Version>> {
        let query = "SELECT cenote_outcome($1)";
        let read = |connection: &mut Connection| {
            connection.client.query_one(query, &[&token.as_slice()]).map_err(error)
        };
        let holder = Some(Holder::here());
        let row = aside(|| self.pool.take_and(holder, read).map(|(_, row)| row))?;
        let version: Option<i64> = row.get(0);
        Ok(version.map(i64::cast_unsigned))
    }
}
