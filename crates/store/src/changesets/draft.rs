//! The changes of a change set, and what they depend on.
//!
//! Invariant: evidence is about the store, never about what the set itself wrote; so a commit whose evidence holds does what all changes
//! of the set would have done, one after the other, at the moment of the commit.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use cenote_kv::{
    Batch, Changes, Evidence, KeyRange, Layered, RangeDigest, ScanOptions, Snapshot, Token, counter,
};

use super::base::Base;
use super::tables;
use crate::catalog::{Announced, ChangeRecord, Record, Work, keys};
use crate::model::Time;
use crate::{Error, ErrorKind, Result};

#[derive(Debug)]
pub(super) struct Draft {
    base: Arc<Base>,
    /// The visible content on top of `base`.
    changes: Arc<Changes>,
    writes: Changes,
    sums: BTreeMap<Bytes, i64>,
    appends: Vec<(Bytes, Bytes)>,
    /// The most that counters of quotas may hold.
    limits: BTreeMap<Bytes, i64>,
    seen: BTreeMap<Bytes, Option<Bytes>>,
    ranges: Vec<Evidence>,
    /// The blobs that were written for it.
    announced: Vec<Arc<dyn Announced>>,
    /// Whether all that it did makes room.
    frees: bool,
    written: usize,
    read: usize,
    /// How many changes it took.
    pub(super) count: u64,
}

/// The evidence of one change, about the store alone.
struct Rests {
    seen: Vec<(Bytes, Option<Bytes>)>,
    ranges: Vec<Evidence>,
    size: usize,
}

impl Draft {
    pub(super) fn new(base: Base) -> Self {
        Self {
            base: Arc::new(base),
            changes: Arc::default(),
            writes: Changes::new(),
            sums: BTreeMap::new(),
            appends: Vec::new(),
            limits: BTreeMap::new(),
            seen: BTreeMap::new(),
            ranges: Vec::new(),
            announced: Vec::new(),
            frees: true,
            written: 0,
            read: 0,
            count: 0,
        }
    }

    /// The store as the set sees it now, and what of it is not its own.
    pub(super) fn view(&self) -> (Layered, Arc<Base>) {
        let base = Arc::new(self.base.again());
        (Layered::new(base.clone(), self.changes.clone()), base)
    }

    /// The bytes of keys and values that the commit will write.
    pub(super) fn written(&self) -> usize {
        self.written
    }

    /// All that it keeps in memory.
    pub(super) fn size(&self) -> usize {
        self.written + self.read
    }

    pub(super) fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.appends.is_empty() && self.sums.is_empty()
    }

    /// The announcements of the commit.
    pub(super) fn announced(&self) -> &[Arc<dyn Announced>] {
        &self.announced
    }

    /// Adds a change that was made on a view; `base` is that of the view. After an error it is unchanged.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if more than `most` bytes would be written, or kept as evidence; [`ErrorKind::Invalid`]
    /// for what no change set may change.
    pub(super) fn take(&mut self, work: Work, base: &Base, most: usize) -> Result<()> {
        tables::check(&work.writes)?;
        let rests = self.rests(&work, base)?;
        let written = self.written_after(&work);
        if written > most || self.read + rests.size > most {
            return Err(too_large(most));
        }
        let counters = self.counters_after(&work, base)?;
        (self.written, self.read) = (written, self.read + rests.size);
        self.frees &= work.frees;
        self.count += u64::from(!work.writes.is_empty() || !work.sums.is_empty());
        for (key, value) in rests.seen {
            self.seen.entry(key).or_insert(value);
        }
        self.ranges.extend(rests.ranges);
        self.announced.extend(work.announced);
        self.appends.extend(work.appends);
        self.limits.extend(work.limits);
        self.write(work.writes, work.sums, counters);
        Ok(())
    }

    fn write(&mut self, writes: Changes, sums: BTreeMap<Bytes, i64>, counters: Changes) {
        let changes = Arc::make_mut(&mut self.changes);
        for (key, value) in writes {
            self.sums.remove(&key);
            changes.insert(key.clone(), value.clone());
            self.writes.insert(key, value);
        }
        changes.extend(counters);
        for (key, delta) in sums {
            let sum = self.sums.entry(key).or_default();
            *sum = sum.wrapping_add(delta);
        }
    }

    fn rests(&self, work: &Work, base: &Base) -> Result<Rests> {
        let mut rests = Rests { seen: Vec::new(), ranges: Vec::new(), size: 0 };
        for (key, value) in &work.seen {
            let value = match self.changes.contains_key(key) {
                false => value.clone(),
                // It adds to a value of the base.
                true if !self.writes.contains_key(key) => base.get(key)?,
                true => continue,
            };
            if !self.seen.contains_key(key) {
                rests.size += key.len() + value.as_ref().map_or(0, Bytes::len);
                rests.seen.push((key.clone(), value));
            }
        }
        for evidence in &work.ranges {
            let evidence = self.below(evidence, base)?;
            rests.size += size_of_range(&evidence);
            rests.ranges.push(evidence);
        }
        Ok(rests)
    }

    /// What a range showed, without what the set itself wrote there.
    fn below(&self, evidence: &Evidence, base: &Base) -> Result<Evidence> {
        let Evidence::Range { range, limit, .. } = evidence else { return Ok(evidence.clone()) };
        let mut own = within(&self.changes, range).peekable();
        if own.peek().is_none() {
            return Ok(evidence.clone());
        }
        let removed = own.filter(|(_, value)| value.is_none()).count();
        let limit = limit.saturating_add(removed);
        let rows = base.scan(range, ScanOptions::limit(limit)).collect::<Result<Vec<_>, _>>()?;
        Ok(Evidence::Range { range: range.clone(), limit, digest: RangeDigest::of(&rows) })
    }

    /// What counters will show.
    fn counters_after(&self, work: &Work, base: &Base) -> Result<Changes> {
        let mut counters = Changes::new();
        for (key, delta) in work.sums.iter().filter(|(_, delta)| **delta != 0) {
            let before = match work.writes.get(key).or_else(|| self.changes.get(key)) {
                Some(value) => value.clone(),
                None => base.get(key)?,
            };
            let sum = before.map_or(0, |value| counter(&value)).wrapping_add(*delta);
            let value = (sum != 0).then(|| Bytes::copy_from_slice(&sum.to_be_bytes()));
            counters.insert(key.clone(), value);
        }
        Ok(counters)
    }

    fn written_after(&self, work: &Work) -> usize {
        let size =
            |key: &Bytes, value: &Option<Bytes>| key.len() + value.as_ref().map_or(0, Bytes::len);
        let replaced = |key: &Bytes| {
            let write = self.writes.get(key).map_or(0, |value| size(key, value));
            write + self.sums.get(key).map_or(0, |_| key.len() + COUNTER)
        };
        let written: usize = work.writes.iter().map(|(key, value)| size(key, value)).sum();
        let replaced: usize = work.writes.keys().map(replaced).sum();
        let new = |key: &&Bytes| !self.sums.contains_key(*key) || work.writes.contains_key(*key);
        let summed: usize = work.sums.keys().filter(new).map(|key| key.len() + COUNTER).sum();
        let appended: usize =
            work.appends.iter().map(|(prefix, value)| prefix.len() + value.len()).sum();
        self.written - replaced + written + summed + appended
    }

    /// All of it as one batch. Contents that lose a reference lose it now, and the change feed has each change at the time of
    /// the commit, whenever it was made: the order of the feed is that of its times.
    pub(super) fn batch(&self, now: Time, token: Token) -> Result<Batch> {
        let mut batch = Batch::new(self.base.version());
        (batch.token, batch.frees) = (Some(token), self.frees);
        batch.expect_keys(self.seen.iter().map(|(key, value)| (key.clone(), value.clone())));
        batch.evidence.extend(self.ranges.iter().cloned());
        for (key, value) in &self.writes {
            let key = match keys::garbage_content(key).filter(|_| keys::all_garbage().contains(key))
            {
                Some(content) if value.is_some() => keys::garbage(now, content),
                _ => key.clone(),
            };
            match value {
                Some(value) => batch.put(key, value.clone()),
                None => batch.delete(key),
            };
        }
        // Changes that free space are never refused.
        for (key, most) in &self.limits {
            if self.sums.get(key).is_some_and(|sum| *sum > 0) {
                batch.require_at_most(key.clone(), *most);
            }
        }
        for (key, sum) in self.sums.iter().filter(|(_, sum)| **sum != 0) {
            batch.add(key.clone(), *sum);
        }
        for (prefix, value) in &self.appends {
            let change = ChangeRecord { at: now, ..ChangeRecord::from_value(value)? };
            batch.append(prefix.clone(), change.to_value());
        }
        Ok(batch)
    }
}

fn size_of_range(evidence: &Evidence) -> usize {
    let start = match evidence {
        Evidence::Range { range, .. } => range.start.len(),
        Evidence::Keys(_) => 0,
    };
    start + size_of::<Evidence>()
}

/// The bytes of a counter.
const COUNTER: usize = 8;

fn within<'a>(
    changes: &'a Changes,
    range: &'a KeyRange,
) -> impl Iterator<Item = (&'a Bytes, &'a Option<Bytes>)> {
    changes.range(range.start.clone()..).take_while(|(key, _)| range.contains(key))
}

fn too_large(most: usize) -> Error {
    let message = format!("a change set holds at most {most} bytes of changes to the catalog");
    Error::new(ErrorKind::TooLarge, message)
        .with_hint("commit it, and continue in another one; this change was not made")
}
