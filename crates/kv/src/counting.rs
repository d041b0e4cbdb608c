//! An engine that counts its calls, for tests of the cost of operations, independent of the machine.
//!
//! On a distributed engine each call is a round trip, so a test that limits their number limits the latency
//! there.

use std::ops::Sub;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use crate::{
    Batch, CommitError, Engine, Evidence, Found, KeyRange, Limits, Result, Room, Rows, ScanOptions,
    Snapshot, Token, Version, Wanted,
};

/// Calls that an engine answered, and how much they carried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Snapshots taken.
    pub snapshots: u64,
    /// Calls of [`Snapshot::get`].
    pub gets: u64,
    /// Calls of [`Snapshot::get_many`].
    pub multi_gets: u64,
    /// Calls of [`Snapshot::read`].
    pub joint_reads: u64,
    /// Calls of [`Snapshot::scan`].
    pub scans: u64,
    /// Calls of [`Engine::commit`].
    pub commits: u64,
    /// Keys and ranges that commits depended on, and bounds that they had to keep.
    pub evidence: u64,
    /// Bytes of keys and values that were read and written.
    pub bytes: u64,
}

impl Counts {
    /// Calls that read: gets, multi-gets, joint reads and scans.
    pub fn reads(&self) -> u64 {
        self.gets + self.multi_gets + self.joint_reads + self.scans
    }
}

impl Sub for Counts {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            snapshots: self.snapshots - earlier.snapshots,
            gets: self.gets - earlier.gets,
            multi_gets: self.multi_gets - earlier.multi_gets,
            joint_reads: self.joint_reads - earlier.joint_reads,
            scans: self.scans - earlier.scans,
            commits: self.commits - earlier.commits,
            evidence: self.evidence - earlier.evidence,
            bytes: self.bytes - earlier.bytes,
        }
    }
}

/// Passes calls on to another engine, and counts them. Clones count together.
#[derive(Debug, Clone)]
pub struct CountingEngine {
    inner: Arc<dyn Engine>,
    tally: Arc<Tally>,
}

#[derive(Debug, Default)]
struct Tally {
    snapshots: AtomicU64,
    gets: AtomicU64,
    multi_gets: AtomicU64,
    joint_reads: AtomicU64,
    scans: AtomicU64,
    commits: AtomicU64,
    evidence: AtomicU64,
    bytes: AtomicU64,
}

impl CountingEngine {
    /// Does what `inner` does, and counts from zero.
    pub fn new(inner: Arc<dyn Engine>) -> Self {
        Self { inner, tally: Arc::default() }
    }

    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        let read = |count: &AtomicU64| count.load(Ordering::SeqCst);
        Counts {
            snapshots: read(&self.tally.snapshots),
            gets: read(&self.tally.gets),
            multi_gets: read(&self.tally.multi_gets),
            joint_reads: read(&self.tally.joint_reads),
            scans: read(&self.tally.scans),
            commits: read(&self.tally.commits),
            evidence: read(&self.tally.evidence),
            bytes: read(&self.tally.bytes),
        }
    }

    /// What is counted while `work` runs.
    pub fn cost(&self, work: impl FnOnce()) -> Counts {
        let before = self.counts();
        work();
        self.counts() - before
    }
}

fn count(what: &AtomicU64, more: usize) {
    what.fetch_add(more as u64, Ordering::SeqCst);
}

impl Engine for CountingEngine {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        count(&self.tally.snapshots, 1);
        let inner = self.inner.snapshot()?;
        Ok(Box::new(CountingSnapshot { inner, tally: self.tally.clone() }))
    }

    fn snapshot_with(&self, wanted: &Wanted) -> Result<(Box<dyn Snapshot>, Found)> {
        count(&self.tally.snapshots, 1);
        let (inner, found) = self.inner.snapshot_with(wanted)?;
        let snapshot = CountingSnapshot { inner, tally: self.tally.clone() };
        snapshot.count_found(wanted, &found);
        Ok((Box::new(snapshot), found))
    }

    fn commit(&self, batch: Batch) -> Result<Version, CommitError> {
        count(&self.tally.commits, 1);
        let ranges = batch.evidence.iter().filter(|seen| matches!(seen, Evidence::Range { .. }));
        let keys: usize = batch.evidence.iter().map(|seen| seen.keys().len()).sum();
        count(&self.tally.evidence, keys + ranges.count() + batch.bounds.len());
        count(&self.tally.bytes, batch.size());
        self.inner.commit(batch)
    }

    fn outcome(&self, token: &Token) -> Result<Option<Version>> {
        self.inner.outcome(token)
    }

    fn limits(&self) -> Limits {
        self.inner.limits()
    }

    fn has_room(&self) -> bool {
        self.inner.has_room()
    }

    fn room(&self) -> Option<Room> {
        self.inner.room()
    }

    fn reclaim(&self) -> Result<bool> {
        self.inner.reclaim()
    }

    fn is_shared(&self) -> bool {
        self.inner.is_shared()
    }

    fn follow(&self, notify: Box<dyn Fn() + Send>) {
        self.inner.follow(notify);
    }
}

#[derive(Debug)]
struct CountingSnapshot {
    inner: Box<dyn Snapshot>,
    tally: Arc<Tally>,
}

impl CountingSnapshot {
    fn count_rows(&self, keys: &[Bytes], values: &[Option<Bytes>]) {
        keys.iter().zip(values).for_each(|(key, value)| self.count_row(key, value.as_ref()));
    }

    fn count_found(&self, wanted: &Wanted, found: &Found) {
        self.count_rows(&wanted.keys, &found.values);
        found
            .rows
            .iter()
            .flatten()
            .flatten()
            .for_each(|(key, value)| self.count_row(key, Some(value)));
    }

    fn count_row(&self, key: &[u8], value: Option<&Bytes>) {
        count(&self.tally.bytes, key.len() + value.map_or(0, Bytes::len));
    }
}

impl Snapshot for CountingSnapshot {
    fn version(&self) -> Version {
        self.inner.version()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        count(&self.tally.gets, 1);
        let value = self.inner.get(key)?;
        self.count_row(key, value.as_ref());
        Ok(value)
    }

    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        count(&self.tally.multi_gets, 1);
        let values = self.inner.get_many(keys)?;
        self.count_rows(keys, &values);
        Ok(values)
    }

    fn read(&self, wanted: &Wanted) -> Result<Found> {
        count(&self.tally.joint_reads, 1);
        let found = self.inner.read(wanted)?;
        self.count_found(wanted, &found);
        Ok(found)
    }

    fn scan(&self, range: &KeyRange, options: ScanOptions) -> Rows<'_> {
        count(&self.tally.scans, 1);
        let rows = self.inner.scan(range, options);
        Box::new(rows.inspect(|row| {
            if let Ok((key, value)) = row {
                self.count_row(key, Some(value));
            }
        }))
    }
}
