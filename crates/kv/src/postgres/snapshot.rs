//! Reads: a transaction that sees one commit.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio_postgres::{Row as Read, SimpleQueryMessage};

use super::aside::aside;
use super::client::first_value;
use super::failed::error;
use super::joint::{self, Parameters};
use super::permits::Holder;
use super::pool::{Connection, Leased, Pool};
use crate::{Error, Found, KeyRange, Result, Row, Rows, ScanOptions, Snapshot, Version, Wanted};

/// A repeatable-read transaction; the lock is held for a query, never while a caller
/// walks over rows.
#[derive(Debug)]
pub(super) struct PostgresSnapshot {
    version: Version,
    connection: Mutex<Leased>,
}

/// Rows fetched at a time by a scan.
const PAGE_ROWS: usize = 1_000;
/// Bytes of values after which a page ends.
const PAGE_BYTES: i64 = 4 << 20;

impl PostgresSnapshot {
    /// Counted for `holder`, if it is one that does not last.
    pub(super) fn begin(pool: &Pool, holder: Option<Holder>) -> Result<Self> {
        let (connection, version) = pool.take_and(holder, begin)?;
        Ok(Self { version, connection: Mutex::new(connection) })
    }

    /// The same, and what is wanted, in one round trip.
    pub(super) fn begin_with(
        pool: &Pool,
        holder: Holder,
        wanted: &Wanted,
    ) -> Result<(Self, Found)> {
        let begin = |connection: &mut Connection| begin_with(connection, wanted);
        let (connection, (version, found)) = pool.take_and(Some(holder), begin)?;
        Ok((Self { version, connection: Mutex::new(connection) }, found))
    }

    fn connection(&self) -> MutexGuard<'_, Leased> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The values at `keys`, in one round trip.
    fn values(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        let mut connection = self.connection();
        let statement = connection.statements()?.get_many;
        let rows = connection.client.query(&statement, &[&slices(keys)]).map_err(error)?;
        Ok(values(&rows))
    }

    /// All that is wanted, in one round trip.
    fn joint(&self, wanted: &Wanted) -> Result<Found> {
        let mut connection = self.connection();
        let statement = connection.statements()?.joint;
        let parameters = Parameters::of(wanted);
        let answer = connection.client.query(&statement, &parameters.all()).map_err(error)?;
        Ok(joint::found(wanted, &answer))
    }

    /// The next rows of `range`; their number and size are bounded.
    fn page(&self, range: &KeyRange, options: ScanOptions) -> Result<Vec<Row>> {
        let mut connection = self.connection();
        let statements = connection.statements()?;
        let statement = if options.reverse { statements.backward } else { statements.forward };
        let (start, end) = (range.start.as_ref(), range.end.as_deref().unwrap_or(&LAST));
        let rows = i64::try_from(options.limit).unwrap_or(i64::MAX);
        let found = connection.client.query(&statement, &[&start, &end, &rows, &PAGE_BYTES]);
        let bytes = |row: &Read, at| Bytes::from(row.get::<_, Vec<u8>>(at));
        Ok(found.map_err(error)?.iter().map(|row| (bytes(row, 0), bytes(row, 1))).collect())
    }
}

const BEGIN: &str =
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT version FROM cenote_version";

/// Begins the transaction of a snapshot, and reads its version, in one round trip.
fn begin(connection: &mut Connection) -> Result<Version> {
    version(&connection.client.simple_query(BEGIN).map_err(error)?)
}

/// The same, and reads what is wanted: by the statement for values, which is cheaper, if that is all.
fn begin_with(connection: &mut Connection, wanted: &Wanted) -> Result<(Version, Found)> {
    let statements = connection.statements()?;
    let begun = match wanted.ranges.is_empty() {
        true => {
            let keys = slices(&wanted.keys);
            connection.client.query_after(BEGIN, &statements.get_many, &[&keys])
        }
        false => {
            let parameters = Parameters::of(wanted);
            connection.client.query_after(BEGIN, &statements.joint, &parameters.all())
        }
    };
    let (begun, answer) = begun.inspect_err(|_| connection.roll_back()).map_err(error)?;
    let found = match wanted.ranges.is_empty() {
        true => Found { values: values(&answer), rows: Vec::new() },
        false => joint::found(wanted, &answer),
    };
    Ok((version(&begun)?, found))
}

fn version(begun: &[SimpleQueryMessage]) -> Result<Version> {
    let version = first_value(begun).and_then(|version| version.parse::<i64>().ok());
    version
        .map(i64::cast_unsigned)
        .ok_or_else(|| Error::Corrupt("the catalog has no version".into()))
}

fn slices(keys: &[Bytes]) -> Vec<&[u8]> {
    keys.iter().map(Bytes::as_ref).collect()
}

fn values(rows: &[Read]) -> Vec<Option<Bytes>> {
    rows.iter().map(|row| row.get::<_, Option<Vec<u8>>>(0).map(Bytes::from)).collect()
}

/// The end of all keys: none starts with this byte.
pub(super) const LAST: [u8; 1] = [0xff];

impl Snapshot for PostgresSnapshot {
    fn version(&self) -> Version {
        self.version
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        let mut found = self.get_many(&[Bytes::copy_from_slice(key)])?;
        Ok(found.pop().flatten())
    }

    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        aside(|| self.values(keys))
    }

    fn read(&self, wanted: &Wanted) -> Result<Found> {
        match wanted.ranges.is_empty() {
            true => Ok(Found { values: self.get_many(&wanted.keys)?, rows: Vec::new() }),
            false => aside(|| self.joint(wanted)),
        }
    }

    fn scan(&self, range: &KeyRange, options: ScanOptions) -> Rows<'_> {
        Box::new(Scan {
            snapshot: self,
            left: options.limit,
            reverse: options.reverse,
            ended: false,
            range: range.clone(),
            page: VecDeque::new(),
        })
    }
}

impl Drop for PostgresSnapshot {
    fn drop(&mut self) {
        aside(|| self.connection().roll_back());
    }
}

/// A walk by pages.
struct Scan<'a> {
    snapshot: &'a PostgresSnapshot,
    /// Rows that may still be given.
    left: usize,
    reverse: bool,
    ended: bool,
    /// What was not fetched yet.
    range: KeyRange,
    page: VecDeque<Row>,
}

impl Iterator for Scan<'_> {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.is_empty()
            && let Err(failed) = self.fetch()
        {
            self.ended = true;
            return Some(Err(failed));
        }
        let row = self.page.pop_front()?;
        self.left -= 1;
        Some(Ok(row))
    }
}

impl Scan<'_> {
    fn fetch(&mut self) -> Result<()> {
        if self.ended || self.left == 0 {
            return Ok(());
        }
        let options = ScanOptions { reverse: self.reverse, limit: self.left.min(PAGE_ROWS) };
        self.page = aside(|| self.snapshot.page(&self.range, options))?.into();
        // A page that is full neither by rows nor by bytes is the last: that is not asked in another round trip.
        let size: usize = self.page.iter().map(|(_, value)| value.len()).sum();
        self.ended = self.page.len() < options.limit && size < PAGE_BYTES as usize;
        match self.page.back() {
            None => self.ended = true,
            Some((last, _)) if self.reverse => self.range.end = Some(last.clone()),
            Some((last, _)) => self.range = self.range.clone().after(last),
        }
        Ok(())
    }
}
