//! Writes: the batches that wait together become one statement, in which each is checked and applied for itself.
//!
//! Invariant: a commit is reported as not applied only if the server said so, or nothing was sent. A statement that the server
//! refuses has applied nothing, and then each batch goes alone, so that none fails because of another one. A database that is not
//! reached, or says nothing, is waited for once by a group.

mod columns;
mod net;
mod seen;
mod sums;

use tokio_postgres::error::SqlState;

use self::columns::BatchColumns;
use self::net::{NetWrites, fold};
use self::sums::Sums;
use super::PostgresEngine;
use super::failed::{Failed, error};
use super::pool::{Connection, Leased};
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
        let mut connection = match self.ready() {
            Ok(connection) => connection,
            Err(failed) => return same(batches, failed, CommitError::Engine),
        };
        let answers = self.send(&mut connection, batches);
        let answers = match answers {
            Ok(answers) => answers,
            Err(CommitError::Unknown(failed)) => same(batches, failed, CommitError::Unknown),
            Err(failed) if batches.len() == 1 => vec![Err(failed)],
            Err(_) => batches.iter().map(|batch| self.alone(&mut connection, batch)).collect(),
        };
        if connection.client.is_closed() {
            self.pool.forget();
        }
        answers
    }

    /// On a connection that is lost meanwhile nothing more is tried, so that a database which is gone is not waited for by each.
    fn alone(&self, connection: &mut Connection, batch: &Batch) -> Answer {
        let answers = self.send(connection, std::slice::from_ref(batch))?;
        answers.into_iter().next().unwrap_or_else(|| Err(unknown("no answer")))
    }

    /// A connection that knows the statement. Nothing is sent until there is one.
    fn ready(&self) -> Result<Leased> {
        let mut connection = self.pool.take()?;
        connection.commit_statement()?;
        Ok(connection)
    }

    /// The answers to `batches`, in their order, or why the statement failed for all of them.
    fn send(
        &self,
        connection: &mut Connection,
        batches: &[Batch],
    ) -> Result<Vec<Answer>, CommitError> {
        send(connection, batches, self.claim.as_ref().map(super::Claim::mark))
    }
}

/// Sends `batches` to `cenote_apply`. With a `mark`, only while the catalog has it.
fn send(
    connection: &mut Connection,
    batches: &[Batch],
    mark: Option<&[u8]>,
) -> Result<Vec<Answer>, CommitError> {
    let statement = connection.commit_statement()?;
    let net: Vec<NetWrites<'_>> = batches.iter().map(|batch| fold(&batch.writes)).collect();
    let mut sums = Sums::default();
    let columns = batches.iter().zip(&net);
    let columns = columns.map(|(batch, net)| BatchColumns::of(batch, net, sums.come_first(batch)));
    let columns: Vec<_> = columns.collect();
    let rows = connection.client.query(&statement, &[&columns, &mark]).map_err(commit_error)?;
    match rows.is_empty() {
        true => Ok(batches.iter().map(|_| Err(CommitError::Latched)).collect()),
        false => Ok(rows.iter().map(answer).collect()),
    }
}

/// One failure as the answer to each.
fn same(batches: &[Batch], failed: Error, kind: fn(Error) -> CommitError) -> Vec<Answer> {
    let reason = failed.to_string();
    let again = || Err(kind(Error::Io(reason.clone().into())));
    let mut answers: Vec<Answer> = batches.iter().skip(1).map(|_| again()).collect();
    answers.push(Err(kind(failed)));
    answers
}

/// What a row of `cenote_apply` says.
fn answer(row: &tokio_postgres::Row) -> Answer {
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

/// A server that answers has undone the statement, unless somebody intervened there (class 57), as by shutting it down;
/// without an answer nothing is known.
fn commit_error(failed: Failed) -> CommitError {
    match failed.code() {
        Some(&SqlState::DISK_FULL) => CommitError::NoSpace,
        Some(code) if !code.code().starts_with("57") => CommitError::Engine(error(failed)),
        _ => CommitError::Unknown(error(failed)),
    }
}

fn unknown(reason: &str) -> CommitError {
    CommitError::Unknown(Error::Io(reason.to_owned().into()))
}

#[cfg(all(test, feature = "conformance"))]
mod tests {
    use std::cell::Cell;

    use bytes::{Bytes, BytesMut};
    use proptest::prelude::*;
    use tokio_postgres::types::ToSql;

    use super::super::postgres_server;
    use super::*;
    use crate::conformance::model::{assert_same, range, step, together};
    use crate::{Engine, MemoryEngine};

    /// An engine on an empty schema, and the settings of a connection to it.
    fn fresh() -> Option<(PostgresEngine, String)> {
        let config = postgres_server::fresh_schema()?;
        Some((PostgresEngine::open(&config).expect("the server takes connections"), config))
    }

    /// An engine on which writing to some keys has consequences: those that begin with `refused` or `full` fail the statement, `lost`
    /// ends the connection.
    fn with_consequences() -> Option<PostgresEngine> {
        let (engine, config) = fresh()?;
        let trigger = "
            CREATE FUNCTION consequence() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                CASE convert_from(NEW.key, 'SQL_ASCII')
                    WHEN 'refused' THEN RAISE division_by_zero;
                    WHEN 'full' THEN RAISE disk_full;
                    WHEN 'lost' THEN PERFORM pg_terminate_backend(pg_backend_pid());
                    ELSE
                END CASE;
                RETURN NEW;
            END $$;
            CREATE TRIGGER consequence BEFORE INSERT ON cenote_rows
            FOR EACH ROW EXECUTE FUNCTION consequence()";
        let client = postgres::Client::connect(&config, postgres::NoTls);
        let made = client.and_then(|mut client| client.batch_execute(trigger));
        made.expect("the trigger is well-formed");
        Some(engine)
    }

    fn put(key: &'static str, token: u8) -> Batch {
        let mut batch = Batch { token: Some([token; 16]), ..Batch::default() };
        batch.put(key, "1");
        batch
    }

    fn keys(engine: &PostgresEngine) -> Vec<Bytes> {
        let view = engine.snapshot().expect("the server answers");
        let rows = view.scan(&crate::KeyRange::all(), crate::ScanOptions::default());
        rows.map(|row| row.expect("the server answers").0).collect()
    }

    #[test]
    fn a_group_has_the_effect_of_its_batches_in_sequence() {
        let Some((engine, _)) = fresh() else { return };
        let model = MemoryEngine::new();
        let groups = prop::collection::vec(prop::collection::vec(step(), 1..8), 1..4);
        let probes = prop::collection::vec((range(), 0..5usize), 0..4);
        let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
        let refused = Cell::new(0);
        proptest!(config, |(groups in groups, probes in probes)| {
            let mut views = vec![model.snapshot().unwrap()];
            for group in groups {
                let batches: Vec<Batch> = group
                    .iter()
                    .map(|step| step.batch(&*views[views.len().saturating_sub(1 + step.age)]))
                    .collect();
                for (answer, batch) in engine.answers(&batches).into_iter().zip(batches) {
                    let expected = model.commit(batch.clone());
                    refused.set(refused.get() + usize::from(expected.is_err()));
                    prop_assert_eq!(together(&batch, &answer), together(&batch, &expected));
                    views.push(model.snapshot().unwrap());
                }
                assert_same(&*engine.snapshot().unwrap(), &*model.snapshot().unwrap(), &probes);
            }
        });
        assert!(refused.get() > 0, "nothing ever collided");
    }

    #[test]
    fn a_token_is_used_once_also_in_one_group() {
        let Some((engine, _)) = fresh() else { return };
        assert_eq!(engine.outcome(&[7; 16]).unwrap(), None);
        let answers = engine.answers(&[put("a", 1), put("b", 1), put("late", 7), put("c", 2)]);
        let versions: Vec<_> = answers.iter().map(|answer| answer.as_ref().ok().copied()).collect();
        assert_eq!(versions, [Some(1), None, None, Some(2)]);
        assert!(matches!(answers[1], Err(CommitError::Engine(_))), "nothing of it was applied");
        assert_eq!(keys(&engine), ["a", "c"]);
    }

    #[test]
    fn a_batch_that_the_database_refuses_fails_alone() {
        let Some(engine) = with_consequences() else { return };
        let answers =
            engine.answers(&[put("a", 1), put("refused", 2), put("full", 3), put("b", 4)]);
        assert!(matches!(answers[0], Ok(1)) && matches!(answers[3], Ok(2)), "{answers:?}");
        assert!(matches!(answers[1], Err(CommitError::Engine(_))));
        assert!(matches!(answers[2], Err(CommitError::NoSpace)));
        assert_eq!(keys(&engine), ["a", "b"]);
    }

    /// Its members can ask at once, on a new connection, and try again.
    #[test]
    fn a_group_whose_connection_is_lost_is_unknown_as_a_whole() {
        let Some(engine) = with_consequences() else { return };
        let answers = engine.answers(&[put("a", 1), put("lost", 2), put("b", 3)]);
        assert_eq!(answers.len(), 3);
        for (token, answer) in (1..).zip(answers) {
            assert!(matches!(answer, Err(CommitError::Unknown(_))), "{answer:?}");
            assert_eq!(engine.outcome(&[token; 16]).unwrap(), None);
        }
        assert_eq!(keys(&engine), [] as [Bytes; 0]);
        assert!(matches!(engine.answers(&[put("a", 4), put("b", 5)])[..], [Ok(1), Ok(2)]));
    }

    /// The bytes of the statement's argument for `batch`.
    fn sent(engine: &PostgresEngine, batch: &Batch) -> usize {
        let statement = engine.ready().and_then(|mut connection| connection.commit_statement());
        let statement = statement.expect("the server answers");
        let (net, mut out) = (fold(&batch.writes), BytesMut::new());
        let columns = vec![BatchColumns::of(batch, &net, false)];
        columns.to_sql(&statement.params()[0], &mut out).expect("it has the fields of the type");
        out.len()
    }

    #[test]
    fn what_is_sent_for_keys_does_not_grow_with_their_values() {
        let Some((engine, _)) = fresh() else { return };
        let of = |sizes: [usize; 3]| {
            let mut batch = put("a", 1);
            batch.expect("absent", None);
            for (at, size) in sizes.into_iter().enumerate() {
                batch.expect(format!("key{at}"), Some(vec![b'v'; size].into()));
            }
            sent(&engine, &batch)
        };
        let small = of([0, 1, 2]);
        assert!(small < 1_000, "{small}");
        assert_eq!(of([1 << 20, 3, 1 << 10]), small);
    }

    #[test]
    fn the_evidence_of_a_long_path_conflicts_if_its_last_key_changed() {
        let Some((engine, _)) = fresh() else { return };
        let mut path = Batch::default();
        for level in 0..128 {
            path.put(format!("level{level:03}"), "1");
            path.expect(format!("level{level:03}"), None);
        }
        assert!(matches!(engine.answers(&[path.clone()])[..], [Ok(1)]));
        let mut below = Batch::default();
        below.expect_keys(
            (0..128).map(|level| (format!("level{level:03}").into(), Some("1".into()))),
        );
        let mut revoked = Batch::default();
        revoked.put("level127", "2");
        let answers = engine.answers(&[below.clone(), revoked, below]);
        assert!(matches!(answers[..], [Ok(2), Ok(3), Err(CommitError::Conflict { .. })]));
    }

    #[test]
    fn the_largest_batch_goes_together_with_small_ones() {
        let Some((engine, _)) = fresh() else { return };
        let limits = engine.limits();
        let value = Bytes::from(vec![b'v'; limits.value]);
        let mut largest = put("small", 1);
        for at in 1..limits.batch / limits.value {
            largest.put(format!("large{at}"), value.clone());
        }
        let left = limits.batch - largest.size() - "rest".len();
        largest.put("rest", value.slice(..left)).expect("large1", None);
        assert_eq!(largest.size(), limits.batch);
        let mut after = Batch::default();
        after.expect("large1", Some(value.clone())).put("after", "1");
        let answers = engine.answers(&[put("before", 2), largest, after]);
        assert!(matches!(answers[..], [Ok(1), Ok(2), Ok(3)]), "{answers:?}");
        assert_eq!(engine.snapshot().unwrap().get(b"rest").unwrap(), Some(value.slice(..left)));
    }
}
