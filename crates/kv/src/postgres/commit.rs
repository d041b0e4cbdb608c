//! Writes: the batches that wait together become one statement, in which each is checked and applied for itself.
//!
//! Invariant: nobody is told that nothing was applied unless the server said so, or nothing was sent. A statement that the server
//! refuses has applied nothing, and then each batch goes alone, so that none fails because of another one.

use postgres::error::SqlState;

use super::columns::BatchColumns;
use super::net::{NetWrites, fold};
use super::pool::Pool;
use super::{PostgresEngine, error};
use crate::queue::{Answer, Pending};
use crate::{Batch, CommitError, Error, Result};

impl PostgresEngine {
    /// Answers every batch of `group`. Only the leader calls this.
    pub(super) fn write(&self, group: Vec<Pending>) {
        let (batches, callers): (Vec<_>, Vec<_>) =
            group.into_iter().map(|Pending { batch, caller }| (batch, caller)).unzip();
        let mut answers = self.answers(&batches).into_iter();
        for caller in callers {
            let nothing = || Err(CommitError::Unknown(Error::Undecided));
            caller.answer(answers.next().unwrap_or_else(nothing));
        }
    }

    fn answers(&self, batches: &[Batch]) -> Vec<Answer> {
        match self.send(batches) {
            Ok(answers) => answers,
            Err(failed) if batches.len() == 1 => vec![Err(failed)],
            Err(CommitError::Unknown(failed)) => {
                let reason = failed.to_string();
                batches.iter().map(|_| Err(unknown(&reason))).collect()
            }
            Err(_) => batches.iter().map(|batch| self.alone(batch)).collect(),
        }
    }

    fn alone(&self, batch: &Batch) -> Answer {
        let answers = self.send(std::slice::from_ref(batch))?;
        answers.into_iter().next().unwrap_or_else(|| Err(unknown("no answer")))
    }

    /// The answers to `batches`, in their order, or why the statement failed for all of them.
    fn send(&self, batches: &[Batch]) -> Result<Vec<Answer>, CommitError> {
        send(&self.pool, batches, self.claim.as_ref().map(super::Claim::mark))
    }
}

/// Sends `batches` to `cenote_commit`. With a `mark`, only while the catalog has it.
fn send(pool: &Pool, batches: &[Batch], mark: Option<&[u8]>) -> Result<Vec<Answer>, CommitError> {
    let mut connection = pool.take()?;
    let statement = connection.commit_statement()?;
    let net: Vec<NetWrites<'_>> = batches.iter().map(|batch| fold(&batch.writes)).collect();
    let columns = batches.iter().zip(&net).map(|(batch, net)| BatchColumns::of(batch, net));
    let columns: Vec<_> = columns.collect();
    let rows = connection.client.query(&statement, &[&columns, &mark]).map_err(commit_error)?;
    match rows.is_empty() {
        true => Ok(batches.iter().map(|_| Err(CommitError::Latched)).collect()),
        false => Ok(rows.iter().map(answer).collect()),
    }
}

/// What a row of `cenote_commit` says.
fn answer(row: &postgres::Row) -> Answer {
    if let Some(version) = row.get::<_, Option<i64>>(0) {
        return Ok(version.cast_unsigned());
    }
    let Some(key) = row.get::<_, Option<Vec<u8>>>(1) else {
        return Err(CommitError::Engine(Error::Io("the token was used before".into())));
    };
    match (key.into(), row.get::<_, Option<i64>>(2)) {
        (key, Some(held)) => Err(CommitError::Exceeded { key, held }),
        (key, None) => Err(CommitError::Conflict { key }),
    }
}

/// A server that answers has undone the statement, unless it was being shut down;
/// without an answer nothing is known.
fn commit_error(failed: postgres::Error) -> CommitError {
    match failed.code() {
        Some(&SqlState::DISK_FULL) => CommitError::NoSpace,
        Some(code) if !code.code().starts_with("57P") => CommitError::Engine(error(failed)),
        _ => CommitError::Unknown(error(failed)),
    }
}

fn unknown(reason: &str) -> CommitError {
    CommitError::Unknown(Error::Io(reason.to_owned().into()))
}
