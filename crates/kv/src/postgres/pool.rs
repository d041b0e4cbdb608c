//! Connections, kept for the next call.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use postgres::{Client, Statement};

use super::aside::aside;
use super::connect::Address;
use super::error;
use crate::Result;

/// Idle connections kept; more are closed after use.
const IDLE: usize = 16;

/// The connections that no call is using.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    address: Address,
    idle: Arc<Idle>,
}

/// Connections to take, the one that was used last at the end.
#[derive(Debug, Default)]
struct Idle(Mutex<Vec<Connection>>);

impl Drop for Idle {
    fn drop(&mut self) {
        let connections = std::mem::take(self.0.get_mut().unwrap_or_else(PoisonError::into_inner));
        aside(|| drop(connections));
    }
}

/// A connection with its statements.
pub(super) struct Connection {
    pub(super) client: Client,
    statements: Option<Statements>,
}

/// Prepared once for each connection.
#[derive(Clone)]
pub(super) struct Statements {
    pub(super) commit: Statement,
    pub(super) get_many: Statement,
    pub(super) forward: Statement,
    pub(super) backward: Statement,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Pool {
    pub(super) fn new(address: Address) -> Self {
        Self { address, idle: Arc::default() }
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// An idle connection that still stands, or a new one.
    pub(super) fn take(&self) -> Result<Leased> {
        let idle = std::iter::from_fn(|| self.idle().pop());
        let connection = match idle.into_iter().find(|connection| !connection.client.is_closed()) {
            Some(connection) => connection,
            None => Connection::open(&self.address)?,
        };
        Ok(Leased { connection: Some(connection), pool: self.clone() })
    }

    fn give_back(&self, connection: Connection) {
        let mut idle = self.idle();
        if idle.len() < IDLE && !connection.client.is_closed() {
            idle.push(connection);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    fn open(address: &Address) -> Result<Self> {
        let mut client = address.connect()?;
        // Acknowledged is durable, also where the server's default says otherwise.
        let durable = "SELECT set_config('synchronous_commit', 'on', false)
                       WHERE current_setting('synchronous_commit') = 'off'";
        client.batch_execute(durable).map_err(error)?;
        Ok(Self { client, statements: None })
    }

    pub(super) fn create_schema(&mut self) -> Result<()> {
        let mut transaction = self.client.transaction().map_err(error)?;
        // Two servers that start at once must not both create. The number means "cenote".
        transaction
            .batch_execute("SELECT pg_advisory_xact_lock(x'63656e6f7465'::bigint)")
            .map_err(error)?;
        // A change of the schema fails where other servers are busy, and does not hold them up.
        transaction.batch_execute("SET LOCAL lock_timeout = '10s'").map_err(error)?;
        transaction.batch_execute(include_str!("schema.sql")).map_err(error)?;
        transaction.commit().map_err(error)
    }

    pub(super) fn statements(&mut self) -> Result<Statements> {
        if let Some(statements) = &self.statements {
            return Ok(statements.clone());
        }
        let mut prepare = |query: &str| self.client.prepare(query).map_err(error);
        let statements = Statements {
            commit: prepare(
                "SELECT committed, refused, held FROM cenote_commit(
                     $1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18)",
            )?,
            get_many: prepare(
                "SELECT value FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (key, place)
                 LEFT JOIN cenote_rows USING (key) ORDER BY place",
            )?,
            forward: prepare(&scan("ASC"))?,
            backward: prepare(&scan("DESC"))?,
        };
        Ok(self.statements.insert(statements).clone())
    }
}

/// Rows from $1 up to $2, at most $3, and no more after $4 bytes of values.
fn scan(order: &str) -> String {
    format!(
        "SELECT key, value FROM (
             SELECT key, value, sum(octet_length(value)) OVER (
                 ORDER BY key {order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
             FROM (SELECT key, value FROM cenote_rows WHERE key >= $1::bytea AND key < $2::bytea
                   ORDER BY key {order} LIMIT $3::bigint) AS found
         ) AS page WHERE coalesce(before, 0) < $4::bigint ORDER BY key {order}"
    )
}

/// A connection that goes back to its pool.
#[derive(Debug)]
pub(super) struct Leased {
    connection: Option<Connection>,
    pool: Pool,
}

impl Deref for Leased {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("it is taken only when the lease is dropped")
    }
}

impl DerefMut for Leased {
    fn deref_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("it is taken only when the lease is dropped")
    }
}

impl Drop for Leased {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            aside(|| self.pool.give_back(connection));
        }
    }
}
