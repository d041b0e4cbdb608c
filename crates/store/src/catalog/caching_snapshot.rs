//! A snapshot that remembers what was read in it, and whose first reads come with it: over a network what it remembers costs no round
//! trip, and an answer about many resources reads the collections above them once.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use cenote_kv::{
    Engine, Found, KeyRange, Result, Row, Rows, ScanOptions, Snapshot, Version, Wanted,
};

/// What is remembered at most for one request, in bytes of keys and values.
pub(crate) const MOST: usize = 1 << 20;
/// What remembering a range takes besides its bounds and rows.
const PART: usize = 96;
/// A scan of at most so many rows is read at once, and remembered; a longer one is a walk.
const PAGE: usize = 1_024;

/// A snapshot that remembers what was read, up to a size. Clones are the same one.
#[derive(Debug, Clone)]
pub(crate) struct CachingSnapshot(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    snapshot: Box<dyn Snapshot>,
    cache: Mutex<ReadCache>,
}

/// What was read.
#[derive(Debug)]
struct ReadCache {
    values: HashMap<Bytes, Option<Bytes>>,
    /// By where they start.
    parts: BTreeMap<Bytes, Part>,
    /// How many more bytes are remembered.
    left: usize,
}

/// The first rows of a range.
#[derive(Debug)]
struct Part {
    range: KeyRange,
    rows: Vec<Row>,
    /// Whether these are all.
    is_whole: bool,
}

impl CachingSnapshot {
    /// Begins with what is wanted.
    pub(crate) fn begin(engine: &dyn Engine, wanted: &Wanted) -> Result<Self> {
        let (snapshot, found) = engine.snapshot_with(wanted)?;
        let this = Self::over(snapshot, MOST);
        this.cache().learn(wanted, &found);
        Ok(this)
    }

    /// Remembers what is read in a snapshot from now on, at most so many bytes.
    pub(crate) fn over(snapshot: Box<dyn Snapshot>, most: usize) -> Self {
        let cache = ReadCache { values: HashMap::new(), parts: BTreeMap::new(), left: most };
        Self(Arc::new(Inner { snapshot, cache: Mutex::new(cache) }))
    }

    fn cache(&self) -> MutexGuard<'_, ReadCache> {
        self.0.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReadCache {
    fn learn(&mut self, wanted: &Wanted, found: &Found) {
        for (key, value) in wanted.keys.iter().zip(&found.values) {
            self.learn_value(key, value.as_ref());
        }
        for ((range, most), rows) in wanted.ranges.iter().zip(&found.rows) {
            rows.iter().for_each(|rows| self.learn_rows(range, *most, rows));
        }
    }

    fn learn_value(&mut self, key: &Bytes, value: Option<&Bytes>) {
        let size = key.len() + value.map_or(0, Bytes::len);
        if let Some(left) = self.left.checked_sub(size)
            && self.values.insert(key.clone(), value.cloned()).is_none()
        {
            self.left = left;
        }
    }

    fn learn_rows(&mut self, range: &KeyRange, most: usize, rows: &[Row]) {
        let size = |(key, value): &Row| key.len() + value.len();
        let bounds = PART + range.start.len() + range.end.as_ref().map_or(0, Bytes::len);
        if let Some(left) = self.left.checked_sub(bounds + rows.iter().map(size).sum::<usize>()) {
            let part =
                Part { range: range.clone(), rows: rows.to_vec(), is_whole: rows.len() < most };
            self.parts.insert(range.start.clone(), part);
            self.left = left;
        }
    }

    fn of(&self, wanted: &Wanted) -> Partial {
        let rows = |(range, most): &(KeyRange, usize)| self.rows(range, *most);
        Partial {
            values: wanted.keys.iter().map(|key| self.values.get(key).cloned()).collect(),
            rows: wanted.ranges.iter().map(rows).collect(),
        }
    }

    /// The first rows of a range, if they are known.
    fn rows(&self, range: &KeyRange, most: usize) -> Option<Vec<Row>> {
        let (_, part) = self.parts.range(..=range.start.clone()).next_back()?;
        part.rows(range, most)
    }
}

/// What is known of what is wanted.
struct Partial {
    values: Vec<Option<Option<Bytes>>>,
    rows: Vec<Option<Vec<Row>>>,
}

impl Partial {
    fn missing(&self, wanted: &Wanted) -> Wanted {
        let keys = wanted.keys.iter().zip(&self.values).filter(|(_, known)| known.is_none());
        let ranges = wanted.ranges.iter().zip(&self.rows).filter(|(_, known)| known.is_none());
        Wanted {
            keys: keys.map(|(key, _)| key.clone()).collect(),
            ranges: ranges.map(|(range, _)| range.clone()).collect(),
        }
    }

    /// With what was missing.
    fn filled(self, missing: Found) -> Found {
        let (mut values, mut rows) = (missing.values.into_iter(), missing.rows.into_iter());
        let value = |known: Option<_>| known.or_else(|| values.next()).flatten();
        let part = |known: Option<_>| known.or_else(|| rows.next().flatten());
        Found {
            values: self.values.into_iter().map(value).collect(),
            rows: self.rows.into_iter().map(part).collect(),
        }
    }
}

impl Part {
    fn rows(&self, range: &KeyRange, most: usize) -> Option<Vec<Row>> {
        let ends_in_it = match (&range.end, &self.range.end) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(end), Some(own)) => end <= own,
        };
        if !ends_in_it || range.start < self.range.start {
            return None;
        }
        let first = self.rows.partition_point(|(key, _)| key < &range.start);
        let within = self.rows[first..].iter().take_while(|(key, _)| range.contains(key));
        let rows: Vec<Row> = within.take(most).cloned().collect();
        (self.is_whole || rows.len() == most).then_some(rows)
    }
}

impl Snapshot for CachingSnapshot {
    fn version(&self) -> Version {
        self.0.snapshot.version()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        if let Some(value) = self.cache().values.get(key) {
            return Ok(value.clone());
        }
        let value = self.0.snapshot.get(key)?;
        self.cache().learn_value(&Bytes::copy_from_slice(key), value.as_ref());
        Ok(value)
    }

    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        Ok(self.read(&keys.to_vec().into())?.values)
    }

    /// Asks for what is not known.
    fn read(&self, wanted: &Wanted) -> Result<Found> {
        let known = self.cache().of(wanted);
        let missing = known.missing(wanted);
        if missing == Wanted::default() {
            return Ok(known.filled(Found::default()));
        }
        let found = self.0.snapshot.read(&missing)?;
        self.cache().learn(&missing, &found);
        Ok(known.filled(found))
    }

    fn scan(&self, range: &KeyRange, options: ScanOptions) -> Rows<'_> {
        let known = if options.reverse { None } else { self.cache().rows(range, options.limit) };
        if let Some(rows) = known {
            return Box::new(rows.into_iter().map(Ok));
        }
        let rows = self.0.snapshot.scan(range, options);
        if options.reverse || options.limit > PAGE {
            return rows;
        }
        match rows.collect::<Result<Vec<Row>>>() {
            Ok(rows) => {
                self.cache().learn_rows(range, options.limit, &rows);
                Box::new(rows.into_iter().map(Ok))
            }
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }
}

#[cfg(test)]
mod tests {
    use cenote_kv::{Batch, MemoryEngine};
    use proptest::prelude::*;

    use super::*;

    fn keys() -> impl Strategy<Value = Vec<Bytes>> {
        prop::collection::vec((0_u8..8).prop_map(|key| Bytes::from(vec![key])), 0..6)
    }

    fn ranges() -> impl Strategy<Value = Vec<(KeyRange, usize)>> {
        let range = (0_u8..8, prop::option::of(0_u8..9)).prop_map(|(start, end)| KeyRange {
            start: vec![start].into(),
            end: end.map(|end| vec![end].into()),
        });
        prop::collection::vec((range, prop_oneof![0..5_usize, Just(usize::MAX)]), 0..4)
    }

    fn wanted() -> impl Strategy<Value = Wanted> {
        (keys(), ranges()).prop_map(|(keys, ranges)| Wanted { keys, ranges })
    }

    fn scanned(of: &dyn Snapshot, range: &KeyRange, options: ScanOptions) -> Vec<Row> {
        of.scan(range, options).collect::<Result<_>>().unwrap()
    }

    proptest! {
        #[test]
        fn what_is_remembered_changes_no_answer(
            there in prop::collection::btree_set(0_u8..8, 0..8),
            first in wanted(),
            most in prop_oneof![0..40_usize, Just(MOST)],
            reads in prop::collection::vec((wanted(), any::<bool>()), 0..6),
        ) {
            let engine = MemoryEngine::new();
            let mut batch = Batch::default();
            for key in there {
                batch.put(vec![key], vec![key, 1]);
            }
            engine.commit(batch).unwrap();
            let plain = engine.snapshot().unwrap();
            let begun = CachingSnapshot::begin(&engine, &first).unwrap();
            for subject in [begun, CachingSnapshot::over(engine.snapshot().unwrap(), most)] {
                for (read, reverse) in &reads {
                    prop_assert_eq!(subject.read(read).unwrap(), plain.read(read).unwrap());
                    for key in &read.keys {
                        prop_assert_eq!(subject.get(key).unwrap(), plain.get(key).unwrap());
                    }
                    for (range, limit) in &read.ranges {
                        let options = ScanOptions { reverse: *reverse, limit: *limit };
                        let [one, other]: [&dyn Snapshot; 2] = [&subject, &*plain];
                        prop_assert_eq!(scanned(one, range, options), scanned(other, range, options));
                    }
                }
            }
        }
    }

    #[test]
    fn a_large_value_is_read_again() {
        let engine = MemoryEngine::new();
        let mut batch = Batch::default();
        batch.put("large", vec![7; MOST]).put("small", "1");
        engine.commit(batch).unwrap();
        let snapshot = CachingSnapshot::begin(&engine, &Wanted::default()).unwrap();
        for _ in 0..2 {
            assert_eq!(snapshot.get(b"large").unwrap().map(|value| value.len()), Some(MOST));
            assert_eq!(snapshot.get(b"small").unwrap(), Some("1".into()));
            assert_eq!(scanned(&snapshot, &KeyRange::all(), ScanOptions::limit(2)).len(), 2);
        }
        let cache = snapshot.cache();
        assert_eq!((cache.values.len(), cache.parts.len()), (1, 0));
    }
}
