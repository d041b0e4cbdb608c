//! A transaction: reads on one snapshot that become evidence, and writes that
//! become a batch.
//!
//! Invariant: every value a decision depends on was read through the transaction,
//! so that the commit fails if any of it has changed in the meantime. A transaction sees its own writes.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::Arc;

use bytes::Bytes;
use cenote_kv::{
    Batch, Evidence, KeyRange, RangeDigest, Row, ScanOptions, Snapshot, Token, counter,
};

use super::keys::{self, Counter};
use super::{Edges, Record};
use crate::Result;
use crate::model::{Classes, ResourceId, Time};
use crate::quotas::Tallies;
use crate::waiting::go_on;

/// Reads typed records.
pub(crate) trait Reads {
    /// The bytes at a key.
    fn value(&self, key: &Bytes) -> Result<Option<Bytes>>;

    /// The bytes at many keys, in the requested order: one call of the engine.
    fn values(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>>;

    /// The same of keys that hints suggest. A commit does not depend on them, except on those that are passed to [`Reads::rest_on`].
    fn look(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.values(keys)
    }

    /// Has a commit depend on what [`Reads::look`] returned for a key.
    fn rest_on(&self, _key: &Bytes) {}

    /// Reads keys that are likely to be read. A commit depends on those that are.
    fn read_ahead(&self, keys: &[Bytes]) -> Result<()> {
        self.look(keys).map(drop)
    }

    /// Where paths led before.
    fn edges(&self) -> &Edges;

    /// The rows of a range, at most `limit`.
    fn rows(&self, range: &KeyRange, limit: usize) -> Result<Vec<Row>>;

    /// The record at a key.
    fn get<T: Record>(&self, key: &Bytes) -> Result<Option<T>>
    where
        Self: Sized,
    {
        self.value(key)?.map(|value| T::from_value(&value)).transpose()
    }

    /// Whether anything is at a key.
    fn has(&self, key: &Bytes) -> Result<bool> {
        Ok(self.value(key)?.is_some())
    }

    /// The current values of counters. Commits do not depend on them: they may change before the commit.
    fn glance(&self, counters: &[Bytes]) -> Result<Vec<i64>>;

    /// What a counter holds.
    fn counter(&self, id: u64, what: Counter) -> Result<i64> {
        Ok(self.value(&keys::counter(id, what))?.map_or(0, |value| counter(&value)))
    }
}

/// Reads and writes that take effect together, or not at all.
#[derive(Debug)]
pub(crate) struct Transaction {
    snapshot: Box<dyn Snapshot>,
    edges: Arc<Edges>,
    reads: RefCell<HashMap<Bytes, Read>>,
    ranges: RefCell<Vec<Evidence>>,
    writes: BTreeMap<Bytes, Option<Bytes>>,
    size: usize,
    sums: BTreeMap<Bytes, i64>,
    /// What counts for quotas, until [`crate::quotas::settle`] finds out for which, and the limits of those.
    pub(crate) tallies: Tallies,
    /// The resources that it brought to where they are, until [`crate::describe::bind_late`] binds what names their paths.
    pub(crate) come: Vec<ResourceId>,
    /// What it described to have other classes, until [`crate::describe::record_classes`] records these: none if they have to be read.
    pub(crate) reclassified: BTreeMap<u64, Option<Classes>>,
    appends: Vec<(Bytes, Bytes)>,
    now: Time,
    frees: bool,
    announced: Vec<Arc<dyn Announced>>,
}

/// What the snapshot has at a key.
#[derive(Debug)]
struct Read {
    value: Option<Bytes>,
    /// Whether the commit depends on it. Otherwise it was only looked at, or read ahead.
    counts: bool,
}

/// Something outside of the catalog that a commit makes known.
pub(crate) trait Announced: Debug + Send + Sync {
    /// The catalog knows it now.
    fn committed(&self);
}

/// The changes of a transaction and what they depend on; without its snapshot.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) seen: BTreeMap<Bytes, Option<Bytes>>,
    pub(crate) ranges: Vec<Evidence>,
    pub(crate) writes: BTreeMap<Bytes, Option<Bytes>>,
    pub(crate) sums: BTreeMap<Bytes, i64>,
    pub(crate) appends: Vec<(Bytes, Bytes)>,
    pub(crate) frees: bool,
    pub(crate) announced: Vec<Arc<dyn Announced>>,
    /// The most that counters of quotas may hold.
    pub(crate) limits: BTreeMap<Bytes, i64>,
}

impl Transaction {
    pub(crate) fn new(snapshot: Box<dyn Snapshot>, edges: Arc<Edges>, now: Time) -> Self {
        Self {
            snapshot,
            edges,
            reads: RefCell::default(),
            ranges: RefCell::default(),
            writes: BTreeMap::new(),
            size: 0,
            sums: BTreeMap::new(),
            tallies: Tallies::default(),
            come: Vec::new(),
            reclassified: BTreeMap::new(),
            appends: Vec::new(),
            now,
            frees: false,
            announced: Vec::new(),
        }
    }

    /// Keeps something until the outcome of the transaction is known. If it is committed at once, the committer passes it on.
    pub(crate) fn announce(&mut self, what: Arc<dyn Announced>) {
        self.announced.push(what);
    }

    /// What it did, to be committed with other work.
    pub(crate) fn into_work(self) -> Work {
        Work {
            seen: evidence(self.reads.into_inner()).collect(),
            ranges: self.ranges.into_inner(),
            writes: self.writes,
            sums: self.sums,
            appends: self.appends,
            frees: self.frees,
            announced: self.announced,
            limits: self.tallies.into_limits(),
        }
    }

    /// Says that there is more room after it, or after what follows from it: it may use space that others may not.
    pub(crate) fn frees_space(&mut self) {
        self.frees = true;
    }

    /// The time at which all of it happens.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    pub(crate) fn put(&mut self, key: Bytes, record: &impl Record) {
        self.write(key, Some(record.to_value()));
    }

    /// Puts a key without a value.
    pub(crate) fn mark(&mut self, key: Bytes) {
        self.write(key, Some(Bytes::new()));
    }

    pub(crate) fn put_raw(&mut self, key: Bytes, value: Bytes) {
        self.write(key, Some(value));
    }

    pub(crate) fn delete(&mut self, key: Bytes) {
        self.write(key, None);
    }

    /// Adds to a counter, without reading it. It wraps around, so that subtracting the same again leaves it correct.
    pub(crate) fn add(&mut self, id: u64, what: Counter, delta: i64) {
        self.add_to(keys::counter(id, what), delta);
    }

    /// The same of a counter with a key of its own.
    pub(crate) fn add_to(&mut self, counter: Bytes, delta: i64) {
        let sum = self.sums.entry(counter).or_default();
        *sum = sum.wrapping_add(delta);
    }

    pub(crate) fn append(&mut self, prefix: Bytes, record: &impl Record) {
        self.appends.push((prefix, record.to_value()));
    }

    /// Changes records that it appends to a table.
    pub(crate) fn amend<T: Record>(
        &mut self,
        table: &Bytes,
        mut change: impl FnMut(&mut T),
    ) -> Result<()> {
        for (_, value) in self.appends.iter_mut().filter(|(prefix, _)| prefix == table) {
            let mut record = T::from_value(value)?;
            change(&mut record);
            *value = record.to_value();
        }
        Ok(())
    }

    /// How many bytes of keys and values were written so far, about.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Whether it has read or written a key.
    pub(crate) fn knows(&self, key: &Bytes) -> bool {
        let reads = self.reads.borrow();
        self.writes.contains_key(key) || reads.get(key).is_some_and(|read| read.counts)
    }

    /// Reads each key once: those that are not known yet together. `counts` tells whether the commit depends on them.
    fn read(&self, keys: &[Bytes], counts: bool) -> Result<Vec<Option<Bytes>>> {
        go_on()?;
        let mut reads = self.reads.borrow_mut();
        let (mut values, mut unread) = (Vec::with_capacity(keys.len()), Vec::new());
        for (at, key) in keys.iter().enumerate() {
            let written = self.writes.get(key);
            values.push(match (written, reads.get_mut(key)) {
                (Some(written), _) => written.clone(),
                (None, Some(read)) => {
                    read.counts |= counts;
                    read.value.clone()
                }
                (None, None) => {
                    unread.push((at, key.clone()));
                    None
                }
            });
        }
        if !unread.is_empty() {
            let keys: Vec<Bytes> = unread.iter().map(|(_, key)| key.clone()).collect();
            for ((at, key), value) in unread.into_iter().zip(self.snapshot.get_many(&keys)?) {
                values[at].clone_from(&value);
                reads.insert(key, Read { value, counts });
            }
        }
        Ok(values)
    }

    fn write(&mut self, key: Bytes, value: Option<Bytes>) {
        self.size += key.len() + value.as_ref().map_or(0, Bytes::len);
        self.writes.insert(key, value);
    }

    fn written(&self, range: &KeyRange) -> impl Iterator<Item = (&Bytes, &Option<Bytes>)> {
        let from = self.writes.range(range.start.clone()..);
        from.take_while(|(key, _)| range.contains(key))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.appends.is_empty() && self.sums.values().all(|sum| *sum == 0)
    }

    pub(crate) fn into_batch(self, token: Token) -> Batch {
        let mut batch = Batch::new(self.snapshot.version());
        batch.token = Some(token);
        batch.frees = self.frees;
        let mut seen: Vec<_> = evidence(self.reads.into_inner()).collect();
        seen.sort_unstable_by(|(key, _), (other, _)| key.cmp(other));
        batch.expect_keys(seen);
        batch.evidence.append(&mut self.ranges.into_inner());
        for (key, value) in self.writes {
            match value {
                Some(value) => batch.put(key, value),
                None => batch.delete(key),
            };
        }
        // Changes that free space are never refused.
        for (key, limit) in self.tallies.limits() {
            if self.sums.get(key).is_some_and(|sum| *sum > 0) {
                batch.require_at_most(key.clone(), *limit);
            }
        }
        for (key, sum) in self.sums.into_iter().filter(|(_, sum)| *sum != 0) {
            batch.add(key, sum);
        }
        for (prefix, value) in self.appends {
            batch.append(prefix, value);
        }
        batch
    }
}

/// The keys on which a commit depends, and what they held.
fn evidence(reads: HashMap<Bytes, Read>) -> impl Iterator<Item = (Bytes, Option<Bytes>)> {
    let counted = reads.into_iter().filter(|(_, read)| read.counts);
    counted.map(|(key, read)| (key, read.value))
}

impl Reads for Transaction {
    fn value(&self, key: &Bytes) -> Result<Option<Bytes>> {
        go_on()?;
        if let Some(written) = self.writes.get(key) {
            return Ok(written.clone());
        }
        let mut reads = self.reads.borrow_mut();
        if let Some(read) = reads.get_mut(key) {
            read.counts = true;
            return Ok(read.value.clone());
        }
        let value = self.snapshot.get(key)?;
        reads.insert(key.clone(), Read { value: value.clone(), counts: true });
        Ok(value)
    }

    fn values(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.read(keys, true)
    }

    fn look(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.read(keys, false)
    }

    fn rest_on(&self, key: &Bytes) {
        if let Some(read) = self.reads.borrow_mut().get_mut(key)
            && !read.counts
        {
            // What it wrote itself depends on nothing.
            read.counts = !self.writes.contains_key(key);
        }
    }

    fn edges(&self) -> &Edges {
        &self.edges
    }

    /// With what was added to them here.
    fn glance(&self, counters: &[Bytes]) -> Result<Vec<i64>> {
        go_on()?;
        let values = self.snapshot.get_many(counters)?;
        let held = values.iter().map(|value| value.as_ref().map_or(0, |value| counter(value)));
        let more = |key| self.sums.get(key).copied().unwrap_or_default();
        Ok(held.zip(counters).map(|(held, key)| held.wrapping_add(more(key))).collect())
    }

    /// Merges what is stored with what this transaction wrote. As many more rows are read as it
    /// deleted, so that those behind them come forward.
    fn rows(&self, range: &KeyRange, most: usize) -> Result<Vec<Row>> {
        go_on()?;
        let deleted = self.written(range).filter(|(_, value)| value.is_none()).count();
        let limit = most.saturating_add(deleted);
        let stored: Vec<Row> =
            self.snapshot.scan(range, ScanOptions::limit(limit)).collect::<Result<_, _>>()?;
        let digest = RangeDigest::of(&stored);
        self.ranges.borrow_mut().push(Evidence::Range { range: range.clone(), limit, digest });
        let mut merged: BTreeMap<Bytes, Bytes> = stored.into_iter().collect();
        for (key, value) in self.written(range) {
            match value {
                Some(value) => drop(merged.insert(key.clone(), value.clone())),
                None => drop(merged.remove(key)),
            }
        }
        Ok(merged.into_iter().take(most).collect())
    }
}
