//! Connections, kept for the next call.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_postgres::Statement;

use super::aside::aside;
use super::client::Client;
use super::connect::Address;
use super::failed::error;
use super::joint;
use super::permits::{Holder, Permit, Permits};
use crate::Result;

/// Idle connections kept; more are closed after use.
const IDLE: usize = 16;

/// The connections that no call is using.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    address: Address,
    idle: Arc<Idle>,
    permits: Arc<Permits>,
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
    commit: Option<Statement>,
}

/// The statements of reads, prepared once for each connection.
#[derive(Clone)]
pub(super) struct Statements {
    pub(super) get_many: Statement,
    pub(super) joint: Statement,
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
        let permits = Arc::new(Permits::new(address.most(), address.patience()));
        Self { address, idle: Arc::default(), permits }
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// An idle connection that is still open, or a new one; it is not counted. Only what takes one at a time may use this, or what has a
    /// limit elsewhere.
    pub(super) fn take(&self) -> Result<Leased> {
        self.take_for(None)
    }

    fn take_for(&self, holder: Option<Holder>) -> Result<Leased> {
        let permit = holder.map(|holder| self.permits.take(holder)).transpose()?;
        let connection = self.connection()?;
        Ok(Leased { connection: Some(connection), pool: self.clone(), _permit: permit })
    }

    fn connection(&self) -> Result<Connection> {
        let idle = std::iter::from_fn(|| self.idle().pop());
        match idle.into_iter().find(|connection| !connection.client.is_closed()) {
            Some(connection) => Ok(connection),
            None => Connection::open(&self.address),
        }
    }

    /// A connection on which `first` was done, counted for `holder` if there is one. That may be done twice: where an idle connection
    /// turns out to be closed, it is done on a new one.
    pub(super) fn take_and<T>(
        &self,
        holder: Option<Holder>,
        first: impl Fn(&mut Connection) -> Result<T>,
    ) -> Result<(Leased, T)> {
        let mut leased = self.take_for(holder)?;
        let done = match first(&mut leased) {
            Err(_) if leased.client.is_closed() => {
                self.forget();
                leased.connection = Some(self.connection()?);
                first(&mut leased)?
            }
            done => done?,
        };
        Ok((leased, done))
    }

    /// Closes the idle connections: where one was lost, the database was restarted, and they were lost with it.
    pub(super) fn forget(&self) {
        let lost = std::mem::take(&mut *self.idle());
        drop(lost);
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
    /// An acknowledged commit is durable, whatever the database's default, and the database ends what nobody waits for any more.
    fn open(address: &Address) -> Result<Self> {
        let mut client = address.connect()?;
        let durable = "SELECT set_config('synchronous_commit', 'on', false)
                       WHERE current_setting('synchronous_commit') = 'off'";
        let set = match address.query_timeout() {
            Some(within) => {
                let most = within.as_millis().min(i32::MAX as u128);
                format!("{durable}; SET statement_timeout = {most}")
            }
            None => durable.to_owned(),
        };
        client.batch_execute(&set).map_err(error)?;
        Ok(Self { client, statements: None, commit: None })
    }

    pub(super) fn create_schema(&mut self) -> Result<()> {
        let created = self.client.batch_execute_long(CREATE_SCHEMA);
        if created.is_err() {
            self.roll_back();
        }
        created.map_err(error)
    }

    /// Ends a transaction, without waiting for that: whatever is sent next is done after it.
    pub(super) fn roll_back(&mut self) {
        // A connection on which nothing can be sent is closed, and the pool drops it.
        let _ = self.client.send("ROLLBACK");
    }

    pub(super) fn statements(&mut self) -> Result<Statements> {
        if let Some(statements) = &self.statements {
            return Ok(statements.clone());
        }
        let mut prepare = |query: &str| self.client.prepare(query).map_err(error);
        let statements = Statements {
            get_many: prepare(
                "SELECT value FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (key, place)
                 LEFT JOIN cenote_rows USING (key) ORDER BY place",
            )?,
            joint: prepare(joint::QUERY)?,
            forward: prepare(&scan("ASC"))?,
            backward: prepare(&scan("DESC"))?,
        };
        Ok(self.statements.insert(statements).clone())
    }

    /// Prepared on the connections that commit only: the driver then asks for the types of its arguments.
    pub(super) fn commit_statement(&mut self) -> Result<Statement> {
        if let Some(commit) = &self.commit {
            return Ok(commit.clone());
        }
        let query = "SELECT committed, refused, held FROM cenote_apply($1, $2)";
        let commit = self.client.prepare(query).map_err(error)?;
        Ok(self.commit.insert(commit).clone())
    }
}

/// Two servers that start at once must not both create: the number of the lock means "cenote". A change of the schema fails if other
/// servers are busy, rather than blocking them.
const CREATE_SCHEMA: &str = concat!(
    "BEGIN; SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock(x'63656e6f7465'::bigint); SET LOCAL lock_timeout = '10s';",
    include_str!("schema.sql"),
    "; COMMIT"
);

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

/// A connection that returns to its pool.
#[derive(Debug)]
pub(super) struct Leased {
    connection: Option<Connection>,
    pool: Pool,
    /// Dropped once the connection is back, so that whoever gets it next finds that.
    _permit: Option<Permit>,
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
