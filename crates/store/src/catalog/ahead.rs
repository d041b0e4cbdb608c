//! A snapshot for all reads of one answer, which remembers what was read, and whose first values were read with it: over a network what
//! it remembers costs no round trip.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use cenote_kv::{Engine, KeyRange, Result, Rows, ScanOptions, Snapshot, Version};

/// What is remembered at most, in bytes of keys and values: a limit for each request in progress.
const MOST: usize = 1 << 20;

/// A snapshot that remembers values. Clones are the same one.
#[derive(Debug, Clone)]
pub(crate) struct Ahead(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    snapshot: Box<dyn Snapshot>,
    known: Mutex<ReadValues>,
}

/// Values that were read.
#[derive(Debug, Default)]
struct ReadValues {
    values: HashMap<Bytes, Option<Bytes>>,
    size: usize,
}

impl Ahead {
    /// Begins with the values at `keys`.
    pub(crate) fn begin(engine: &dyn Engine, keys: &[Bytes]) -> Result<Self> {
        let (snapshot, values) = engine.snapshot_with(keys)?;
        let mut known = ReadValues::default();
        known.learn(keys, &values);
        Ok(Self(Arc::new(Inner { snapshot, known: Mutex::new(known) })))
    }

    fn known(&self) -> MutexGuard<'_, ReadValues> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReadValues {
    fn learn(&mut self, keys: &[Bytes], values: &[Option<Bytes>]) {
        for (key, value) in keys.iter().zip(values) {
            let size = key.len() + value.as_ref().map_or(0, Bytes::len);
            if self.size + size <= MOST && self.values.insert(key.clone(), value.clone()).is_none()
            {
                self.size += size;
            }
        }
    }
}

impl Snapshot for Ahead {
    fn version(&self) -> Version {
        self.0.snapshot.version()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        if let Some(value) = self.known().values.get(key) {
            return Ok(value.clone());
        }
        let value = self.0.snapshot.get(key)?;
        self.known().learn(&[Bytes::copy_from_slice(key)], std::slice::from_ref(&value));
        Ok(value)
    }

    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        let mut found: Vec<_> = {
            let known = self.known();
            keys.iter().map(|key| known.values.get(key).cloned()).collect()
        };
        let unknown = keys.iter().zip(&found).filter(|(_, value)| value.is_none());
        let unknown: Vec<Bytes> = unknown.map(|(key, _)| key.clone()).collect();
        if !unknown.is_empty() {
            let values = self.0.snapshot.get_many(&unknown)?;
            self.known().learn(&unknown, &values);
            let places = found.iter_mut().filter(|value| value.is_none());
            places.zip(values).for_each(|(place, value)| *place = Some(value));
        }
        Ok(found.into_iter().map(Option::flatten).collect())
    }

    fn scan(&self, range: &KeyRange, options: ScanOptions) -> Rows<'_> {
        self.0.snapshot.scan(range, options)
    }
}

#[cfg(test)]
mod tests {
    use cenote_kv::{Batch, MemoryEngine};
    use proptest::prelude::*;

    use super::*;

    fn keys(of: &[u8]) -> Vec<Bytes> {
        of.iter().map(|key| Bytes::from(vec![*key])).collect()
    }

    proptest! {
        #[test]
        fn what_is_remembered_changes_no_value(
            there in prop::collection::btree_set(0_u8..8, 0..8),
            ahead in prop::collection::vec(0_u8..8, 0..8),
            reads in prop::collection::vec(prop::collection::vec(0_u8..8, 1..6), 0..6),
        ) {
            let engine = MemoryEngine::new();
            let mut batch = Batch::default();
            for key in there {
                batch.put(vec![key], vec![key, 1]);
            }
            engine.commit(batch).unwrap();
            let snapshot = Ahead::begin(&engine, &keys(&ahead)).unwrap();
            let plain = engine.snapshot().unwrap();
            for read in reads {
                let many = |of: &dyn Snapshot| of.get_many(&keys(&read)).unwrap();
                prop_assert_eq!(many(&snapshot), many(&*plain));
                prop_assert_eq!(snapshot.get(&read[..1]).unwrap(), plain.get(&read[..1]).unwrap());
            }
        }
    }

    #[test]
    fn a_large_value_is_read_again() {
        let engine = MemoryEngine::new();
        let mut batch = Batch::default();
        batch.put("large", vec![7; MOST]).put("small", "1");
        engine.commit(batch).unwrap();
        let snapshot = Ahead::begin(&engine, &[]).unwrap();
        for _ in 0..2 {
            assert_eq!(snapshot.get(b"large").unwrap().map(|value| value.len()), Some(MOST));
            assert_eq!(snapshot.get(b"small").unwrap(), Some("1".into()));
        }
        assert_eq!(snapshot.known().values.len(), 1);
    }
}
