//! The rows of a catalog, copied as they are.
//!
//! Invariants: after a copy the catalog has exactly the rows of the origin, whatever was there of an earlier run; every row was
//! compared with its own checksum on the way, and all of them with the digest of what was read, as they are in the target.

use std::iter::Peekable;
use std::sync::Arc;

use bytes::Bytes;
use cenote_kv::{Batch, Engine, KeyRange, Row, Rows, ScanOptions, Snapshot, Version};
use sha2::{Digest, Sha256};

use super::{CopyChoices, CopyProgress, Landing, Origin, Watch};
use crate::catalog::{is_whole, keys};
use crate::{Error, Result};

/// Writes of one commit, in bytes; a single row may have more.
const COMMIT: usize = 4 << 20;
/// The most writes of one commit.
const WRITES: usize = 4_096;
/// Rows between two reports of progress.
const TOLD: u64 = 4_096;

/// How many rows there are, and what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowTotal {
    /// Rows.
    pub rows: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
    /// SHA-256 over all rows in the order of their keys: each key and value with its length as a big-endian `u32` before it.
    pub sha256: [u8; 32],
}

/// Counts rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    hash: Sha256,
}

impl Tally {
    pub(crate) fn add(&mut self, key: &[u8], value: &[u8]) {
        for part in [key, value] {
            self.hash.update((part.len() as u32).to_be_bytes());
            self.hash.update(part);
        }
        self.rows += 1;
        self.bytes += (key.len() + value.len()) as u64;
    }

    pub(crate) fn total(&self) -> RowTotal {
        let sha256 = self.hash.clone().finalize().into();
        RowTotal { rows: self.rows, bytes: self.bytes, sha256 }
    }
}

/// A catalog that has arrived but for the row that makes it a store.
#[derive(Debug)]
pub(super) struct Arrived {
    /// All rows but that one.
    pub(super) total: RowTotal,
    /// The value of that row.
    pub(super) format: Bytes,
    /// The version that they are of.
    pub(super) version: Version,
}

/// Brings the target to the rows of the origin, and compares them.
pub(super) async fn copy(
    origin: Arc<dyn Origin>,
    landing: &Landing,
    choices: CopyChoices,
    watch: &Watch,
) -> Result<Arrived> {
    let watch = watch.clone();
    landing
        .blocking(move |landing| {
            let engine = &*landing.engine;
            let arrived = arrive(&*origin, engine, choices, &watch)?;
            match total(&*engine.snapshot()?)? == arrived.total {
                true => Ok(arrived),
                false => Err(Error::damaged("the copied rows are not those that were written")),
            }
        })
        .await
}

fn arrive(
    origin: &dyn Origin,
    engine: &dyn Engine,
    choices: CopyChoices,
    watch: &Watch,
) -> Result<Arrived> {
    let view = engine.snapshot()?;
    let there = view.scan(&KeyRange::all(), ScanOptions::default()).peekable();
    let (batch, tally) = (Batch::default(), Tally::default());
    let leave_damaged = choices.leave_damaged;
    let mut arriving = Arriving { engine, leave_damaged, there, batch, tally, format: None };
    let version = origin.rows(&mut |row| {
        arriving.take(row)?;
        if arriving.tally.rows.is_multiple_of(TOLD) {
            watch(CopyProgress::Rows(arriving.tally.rows, arriving.tally.bytes));
        }
        Ok(())
    })?;
    let (total, format) = arriving.end()?;
    watch(CopyProgress::Rows(total.rows, total.bytes));
    let format =
        format.ok_or_else(|| Error::damaged("the copied catalog is not that of a store"))?;
    Ok(Arrived { total, format, version })
}

/// Rows on their way into an engine that may have some of them.
struct Arriving<'a> {
    engine: &'a dyn Engine,
    leave_damaged: bool,
    /// What was there before.
    there: Peekable<Rows<'a>>,
    batch: Batch,
    tally: Tally,
    format: Option<Bytes>,
}

impl Arriving<'_> {
    fn take(&mut self, (key, value): Row) -> Result<()> {
        if !self.leave_damaged && !is_whole(&key, &value) {
            return Err(Error::damaged(format!("a row of the catalog is damaged: {}", name(&key)))
                .with_hint("repair the catalog with `cenote check --repair` first"));
        }
        if key == keys::setting("format") {
            self.format = Some(value);
            return Ok(());
        }
        self.tally.add(&key, &value);
        if !self.is_there(&key, &value)? {
            self.batch.put(key, value);
        }
        self.commit_some()
    }

    /// Whether a row is there already. Those before it do not belong here.
    fn is_there(&mut self, key: &Bytes, value: &Bytes) -> Result<bool> {
        while let Some(next) = self.there.next_if(|row| is_until(row, key)) {
            let (found, held) = next?;
            if found == *key {
                return Ok(held == *value);
            }
            self.remove(found)?;
        }
        Ok(false)
    }

    fn remove(&mut self, key: Bytes) -> Result<()> {
        if !is_withheld(&key) {
            self.batch.delete(key);
        }
        self.commit_some()
    }

    fn end(mut self) -> Result<(RowTotal, Option<Bytes>)> {
        while let Some(row) = self.there.next() {
            self.remove(row?.0)?;
        }
        self.commit()?;
        Ok((self.tally.total(), self.format))
    }

    fn commit_some(&mut self) -> Result<()> {
        // The size of a batch is a sum over it, so it is not computed for each row.
        let writes = self.batch.writes.len();
        let is_full =
            writes >= WRITES || (writes.is_multiple_of(16) && self.batch.size() >= COMMIT);
        if is_full { self.commit() } else { Ok(()) }
    }

    fn commit(&mut self) -> Result<()> {
        let batch = std::mem::take(&mut self.batch);
        if !batch.writes.is_empty() {
            self.engine.commit(batch)?;
        }
        Ok(())
    }
}

/// Whether a row comes no later than a key. So does one that cannot be read, to be reported.
fn is_until(row: &cenote_kv::Result<Row>, key: &Bytes) -> bool {
    row.as_ref().map_or(true, |(found, _)| found <= key)
}

/// Whether a row says what the catalog is, and so is written when a copy begins or ends.
fn is_withheld(key: &[u8]) -> bool {
    [keys::setting("format"), keys::setting("unfinished")].iter().any(|own| *own == *key)
}

/// All rows but those that are withheld.
fn total(view: &dyn Snapshot) -> Result<RowTotal> {
    let mut tally = Tally::default();
    for row in view.scan(&KeyRange::all(), ScanOptions::default()) {
        let (key, value) = row?;
        if !is_withheld(&key) {
            tally.add(&key, &value);
        }
    }
    Ok(tally.total())
}

/// A key as people may read it: its table, and the rest in hexadecimal digits.
fn name(key: &[u8]) -> String {
    let (table, rest) = key.split_at(key.len().min(1));
    format!("{} {}", String::from_utf8_lossy(table), hex::encode(rest))
}
