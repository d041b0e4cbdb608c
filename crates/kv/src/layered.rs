//! A snapshot with private changes on top, as a snapshot: the view of an unfinished change set.

use std::sync::Arc;

use bytes::Bytes;

use crate::overlay::{Changes, merged};
use crate::{KeyRange, Result, Rows, ScanOptions, Snapshot, Version};

/// A snapshot with changes on top. Its version is that of the snapshot.
#[derive(Debug, Clone)]
pub struct Layered {
    base: Arc<dyn Snapshot>,
    changes: Arc<Changes>,
}

impl Layered {
    /// `changes` over `base`.
    pub fn new(base: Arc<dyn Snapshot>, changes: Arc<Changes>) -> Self {
        Self { base, changes }
    }
}

impl Snapshot for Layered {
    fn version(&self) -> Version {
        self.base.version()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        match self.changes.get(key) {
            Some(value) => Ok(value.clone()),
            None => self.base.get(key),
        }
    }

    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        let unchanged: Vec<Bytes> =
            keys.iter().filter(|key| !self.changes.contains_key(*key)).cloned().collect();
        let mut found = match unchanged.is_empty() {
            true => Vec::new(),
            false => self.base.get_many(&unchanged)?,
        }
        .into_iter();
        let value = |key: &Bytes| match self.changes.get(key) {
            Some(value) => value.clone(),
            None => found.next().flatten(),
        };
        Ok(keys.iter().map(value).collect())
    }

    fn scan(&self, range: &KeyRange, options: ScanOptions) -> Rows<'_> {
        merged(&*self.base, &self.changes, range, options)
    }
}

#[cfg(all(test, feature = "conformance"))]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::conformance::model::{assert_same_rows, range, step};
    use crate::overlay::Overlay;
    use crate::{Engine, MemoryEngine};

    proptest! {
        /// It reads as if its changes had been committed.
        #[test]
        fn changes_on_top_read_as_if_they_had_been_committed(
            before in prop::collection::vec(step(), 0..4),
            group in prop::collection::vec(step(), 1..6),
            probes in prop::collection::vec((range(), 0..5usize), 0..4),
        ) {
            let model = MemoryEngine::new();
            for step in before {
                // One that would exceed its bound changes nothing.
                let _ = model.commit(step.batch(&*model.snapshot().unwrap()));
            }
            let base: Arc<dyn Snapshot> = model.snapshot().unwrap().into();
            let mut overlay = Overlay::new(&*base);
            for step in group {
                let batch = step.batch(&*model.snapshot().unwrap());
                // Conflicting ones change nothing in either.
                let _ = overlay.admit(batch.clone());
                let _ = model.commit(batch);
            }
            let changes = Arc::new(overlay.into_changes());
            let layered = Layered::new(base, changes);
            assert_same_rows(&layered, &*model.snapshot().unwrap(), &probes);
        }
    }
}
