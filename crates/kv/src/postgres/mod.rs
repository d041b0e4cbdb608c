//! The distributed engine: PostgreSQL, for many servers over one catalog.
//!
//! Invariants kept here: a commit is one statement, so that no transaction waits for a
//! caller ([`commit`]); commits are put in order by the lock of one row, so that versions
//! become visible in order (`schema.sql`); a snapshot is a read-only transaction on a
//! connection of its own ([`snapshot`]).

mod aside;
mod commit;
mod listen;
mod pool;
mod snapshot;

use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};

use postgres::Config;
use postgres::error::SqlState;

use self::aside::aside;
use self::pool::Pool;
use self::snapshot::PostgresSnapshot;
use crate::{Batch, CommitError, Engine, Error, Result, Snapshot, Token, Version};

/// Keeps the catalog in a PostgreSQL database (13 or later).
///
/// Calls block on the network, also on a thread that drives an async runtime.
#[derive(Debug)]
pub struct PostgresEngine {
    pool: Pool,
    /// Those who listen end when these are dropped.
    listening: Mutex<Vec<Sender<()>>>,
}

impl PostgresEngine {
    /// Connects to the database that `config` names (a `postgres://` URL or `key=value`
    /// pairs), and makes the catalog's tables in the first schema of the search path if they
    /// are not there.
    pub fn open(config: &str) -> Result<Self> {
        let config: Config = config.parse().map_err(error)?;
        let engine = Self { pool: Pool::new(config), listening: Mutex::default() };
        aside(|| engine.pool.take()?.create_schema())?;
        Ok(engine)
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
        listen::spawn(self.pool.config().clone(), ended, told);
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(aside(|| PostgresSnapshot::begin(self.pool.take()?))?))
    }

    fn commit(&self, batch: Batch) -> Result<Version, CommitError> {
        self.limits().check(&batch)?;
        aside(|| {
            let mut connection = self.pool.take()?;
            commit::commit(&mut connection, &batch)
        })
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
