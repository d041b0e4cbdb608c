//! Writes: a batch becomes the arguments of one statement.

use std::collections::BTreeMap;

use bytes::Bytes;
use postgres::error::SqlState;

use super::error;
use super::pool::Connection;
use super::snapshot::LAST;
use crate::{Batch, Bound, CommitError, Evidence, Result, Version, Write};

/// Sends `batch`; the server checks and applies it in `cenote_commit`. With a `mark`, only while the catalog has it.
pub(super) fn commit(
    connection: &mut Connection,
    batch: &Batch,
    mark: Option<&[u8]>,
) -> Result<Version, CommitError> {
    let statement = connection.statements()?.commit;
    let evidence = EvidenceColumns::of(&batch.evidence);
    let bounds = BoundColumns::of(batch);
    let net = fold(&batch.writes);
    let writes = WriteColumns::of(&net, &batch.writes);
    let token = batch.token.as_ref().map(|token| token.as_slice());
    let row = connection.client.query_one(
        &statement,
        &[
            &batch.seen.cast_signed(),
            &evidence.keys,
            &evidence.values,
            &evidence.ends,
            &evidence.limits,
            &writes.put_keys,
            &writes.put_values,
            &writes.deleted,
            &writes.counters,
            &writes.deltas,
            &writes.logs,
            &writes.entries,
            &token,
            &bounds.keys,
            &bounds.mosts,
            &bounds.added,
            &mark,
            &batch.least.cast_signed(),
        ],
    );
    let row = row.map_err(commit_error)?;
    if let Some(version) = row.get::<_, Option<i64>>(0) {
        return Ok(version.cast_unsigned());
    }
    let Some(key) = row.get::<_, Option<Vec<u8>>>(1) else { return Err(CommitError::Latched) };
    let key = key.into();
    match row.get::<_, Option<i64>>(2) {
        Some(held) => Err(CommitError::Exceeded { key, held }),
        None => Err(CommitError::Conflict { key }),
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

/// Evidence as parallel arrays; see `cenote_holds`.
#[derive(Default)]
struct EvidenceColumns<'a> {
    keys: Vec<&'a [u8]>,
    values: Vec<Option<&'a [u8]>>,
    ends: Vec<Option<&'a [u8]>>,
    limits: Vec<Option<i64>>,
}

impl<'a> EvidenceColumns<'a> {
    fn of(evidence: &'a [Evidence]) -> Self {
        let mut columns = Self::default();
        for seen in evidence {
            columns.push(seen);
        }
        columns
    }

    fn push(&mut self, seen: &'a Evidence) {
        self.keys.push(seen.key());
        let (value, end, limit) = match seen {
            Evidence::Key { value, .. } => (value.as_deref(), None, None),
            Evidence::Range { range, limit, digest } => (
                Some(digest.0.as_slice()),
                Some(range.end.as_deref().unwrap_or(&LAST)),
                Some(i64::try_from(*limit).unwrap_or(i64::MAX)),
            ),
        };
        self.values.push(value);
        self.ends.push(end);
        self.limits.push(limit);
    }
}

/// Bounds as parallel arrays, each with what the batch adds to its counter.
#[derive(Default)]
struct BoundColumns<'a> {
    keys: Vec<&'a [u8]>,
    mosts: Vec<i64>,
    added: Vec<i64>,
}

impl<'a> BoundColumns<'a> {
    fn of(batch: &'a Batch) -> Self {
        let mut columns = Self::default();
        for Bound { key, most } in &batch.bounds {
            columns.keys.push(key);
            columns.mosts.push(*most);
            columns.added.push(batch.added_to(key));
        }
        columns
    }
}

/// The net effect of a batch on a key, as far as it is known without reading.
#[derive(Debug, PartialEq, Eq)]
enum Net {
    Put(Bytes),
    Delete,
    Add(i64),
}

impl Net {
    /// What an addition makes of an earlier effect of the same batch.
    fn add(self, delta: i64) -> Self {
        let known = match self {
            Self::Add(earlier) => return Self::Add(earlier.wrapping_add(delta)),
            Self::Put(value) => Some(value),
            Self::Delete => None,
        };
        Write::sum(known.as_ref(), delta).map_or(Self::Delete, Self::Put)
    }
}

/// Each key written with its net effect; appends are not among them.
fn fold(writes: &[Write]) -> BTreeMap<&Bytes, Net> {
    let mut net = BTreeMap::new();
    for write in writes {
        match write {
            Write::Put(key, value) => net.insert(key, Net::Put(value.clone())),
            Write::Delete(key) => net.insert(key, Net::Delete),
            Write::Add(key, delta) => {
                let earlier = net.remove(key).unwrap_or(Net::Add(0));
                net.insert(key, earlier.add(*delta))
            }
            Write::Append(..) => None,
        };
    }
    net
}

/// Writes as parallel arrays, each key at most once; see `cenote_commit`.
#[derive(Default)]
struct WriteColumns<'a> {
    put_keys: Vec<&'a [u8]>,
    put_values: Vec<&'a [u8]>,
    deleted: Vec<&'a [u8]>,
    counters: Vec<&'a [u8]>,
    deltas: Vec<i64>,
    logs: Vec<&'a [u8]>,
    entries: Vec<&'a [u8]>,
}

impl<'a> WriteColumns<'a> {
    fn of(net: &'a BTreeMap<&'a Bytes, Net>, writes: &'a [Write]) -> Self {
        let mut columns = Self::default();
        for (key, effect) in net {
            columns.push(key, effect);
        }
        for write in writes {
            if let Write::Append(log, entry) = write {
                columns.logs.push(log);
                columns.entries.push(entry);
            }
        }
        columns
    }

    fn push(&mut self, key: &'a [u8], effect: &'a Net) {
        match effect {
            Net::Put(value) => {
                self.put_keys.push(key);
                self.put_values.push(value);
            }
            Net::Delete => self.deleted.push(key),
            Net::Add(delta) => {
                self.counters.push(key);
                self.deltas.push(*delta);
            }
        }
    }
}
