//! The distributed engine: PostgreSQL, for many servers over one catalog.
//!
//! Invariants kept here: the commits that wait together are one statement, so that no transaction waits for a
//! caller ([`commit`]); commits are put in order by the lock of one row, so that versions
//! become visible in order (`schema.sql`); a snapshot is a read-only transaction on a
//! connection of its own ([`snapshot`]).

mod aside;
mod claim;
mod columns;
mod commit;
mod connect;
mod listen;
mod net;
mod pool;
mod snapshot;

use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};

use postgres::error::SqlState;

use self::aside::aside;
use self::claim::Claim;
use self::connect::Address;
use self::pool::Pool;
use self::snapshot::PostgresSnapshot;
use crate::queue::Queue;
use crate::{Batch, CommitError, Engine, Error, Result, Snapshot, Token, Version};

/// Keeps the catalog in a PostgreSQL database (13 or later).
///
/// Calls block on the network, also on a thread that drives an async runtime.
#[derive(Debug)]
pub struct PostgresEngine {
    pool: Pool,
    queue: Queue,
    /// Of an engine that has the catalog alone.
    claim: Option<Claim>,
    /// Those who listen end when these are dropped.
    listening: Mutex<Vec<Sender<()>>>,
}

impl PostgresEngine {
    /// Connects to the database that `address` names (a `postgres://` URL or `key=value` pairs; with `sslmode=require` over TLS,
    /// verified by the certificates in `sslrootcert` or of the system), and creates the catalog's tables in the first schema of the
    /// search path if they are missing.
    pub fn open(address: &str) -> Result<Self> {
        let pool = Pool::new(Address::parse(address)?);
        let engine =
            Self { pool, queue: Queue::default(), claim: None, listening: Mutex::default() };
        aside(|| engine.pool.take()?.create_schema())?;
        Ok(engine)
    }

    /// The same for one server at a time. If the connection is lost and another server takes the catalog meanwhile, every commit
    /// fails ([`CommitError::Latched`]).
    ///
    /// # Errors
    /// [`Error::Locked`] if another server has the catalog.
    pub fn open_alone(address: &str) -> Result<Self> {
        let engine = Self::open(address)?;
        let claim = aside(|| Claim::take(engine.pool.address()))?;
        Ok(Self { claim: Some(claim), ..engine })
    }
}

impl Engine for PostgresEngine {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn follow(&self, told: Box<dyn Fn() + Send>) {
        let (listening, ended) = mpsc::channel();
        self.listening.lock().unwrap_or_else(PoisonError::into_inner).push(listening);
        listen::spawn(self.pool.address().clone(), ended, told);
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(aside(|| PostgresSnapshot::begin(self.pool.take()?))?))
    }

    fn commit(&self, batch: Batch) -> Result<Version, CommitError> {
        self.limits().check(&batch)?;
        aside(|| self.queue.commit(batch, |group| self.write(group)))
    }

    fn outcome(&self, token: &Token) -> Result<Option<Version>> {
        let query = "SELECT cenote_outcome($1)";
        let row = aside(|| {
            let mut connection = self.pool.take()?;
            connection.client.query_one(query, &[&token.as_slice()]).map_err(error)
        });
        let version: Option<i64> = row?.get(0);
        Ok(version.map(i64::cast_unsigned))
    }
}

fn error(error: postgres::Error) -> Error {
    match error.code() {
        Some(&SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED) => {
            Error::Corrupt(error.to_string())
        }
        _ => Error::Io(Box::new(error)),
    }
}
