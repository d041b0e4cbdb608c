//! Whether each connection has a session of its own.
//!
//! Invariant: an engine is opened only where it has. The lock of a claim and `LISTEN` belong to a session, and so do prepared
//! statements. A pooler that gives a session away between transactions would lose them, or leave them to others, without an error.

use super::client::first_value;
use super::failed::error;
use super::pool::{Connection, Pool};
use crate::{Error, Result};

const HINT: &str = "the database is reached through a pooler that does not keep sessions: \
    use one that does (PgBouncer: pool_mode = session), or connect to the database directly";

/// What every pooler passes on: the simple protocol, without names of statements.
const ASK: &str = "SELECT pg_backend_pid()";

/// # Errors
/// If the session of an idle connection is used by another one, or changes.
pub(super) fn check(pool: &Pool) -> Result<()> {
    let (mut idle, mut busy) = (pool.take()?, pool.take()?);
    let first = session(&mut idle, ASK)?;
    // A transaction needs a session until it ends: that of the idle connection, where sessions are shared.
    let taken = session(&mut busy, &format!("BEGIN; {ASK}"))?;
    let kept = taken != first && session(&mut idle, ASK)? == first;
    busy.roll_back();
    match kept {
        true => Ok(()),
        false => Err(Error::Io(HINT.into())),
    }
}

/// The process of the database that answers.
fn session(connection: &mut Connection, query: &str) -> Result<String> {
    let answers = connection.client.simple_query(query).map_err(error)?;
    let pid = first_value(&answers);
    pid.map(str::to_owned).ok_or_else(|| Error::Io("the database did not answer".into()))
}
