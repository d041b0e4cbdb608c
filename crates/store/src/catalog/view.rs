//! A view: reads on one snapshot, for an answer.

use std::sync::Arc;

use bytes::Bytes;
use cenote_kv::{KeyRange, Row, ScanOptions, Snapshot, Wanted, counter};

use super::{CachingSnapshot, Edges, GraphRecord, Reads, Record, keys};
use crate::Result;
use crate::model::{Resource, ResourceId};
use crate::waiting::go_on;

/// Reads for an answer: nothing is decided, so no evidence is kept.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) snapshot: Box<dyn Snapshot>,
    pub(crate) edges: Arc<Edges>,
    /// [`Pins::moment`](crate::contents::Pins::moment) before that.
    pub(crate) moment: u64,
    /// Whether the snapshot remembers what was read: [`CachingSnapshot`].
    pub(crate) remembers: bool,
}

impl Reads for View {
    fn value(&self, key: &Bytes) -> Result<Option<Bytes>> {
        go_on()?;
        Ok(self.snapshot.get(key)?)
    }

    fn values(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        go_on()?;
        Ok(self.snapshot.get_many(keys)?)
    }

    fn edges(&self) -> &Edges {
        &self.edges
    }

    fn glance(&self, counters: &[Bytes]) -> Result<Vec<i64>> {
        let values = self.values(counters)?;
        Ok(values.iter().map(|value| value.as_ref().map_or(0, |value| counter(value))).collect())
    }

    fn rows(&self, range: &KeyRange, limit: usize) -> Result<Vec<Row>> {
        go_on()?;
        let mut rows = Vec::with_capacity(foreseen(limit));
        for row in self.snapshot.scan(range, ScanOptions::limit(limit)) {
            rows.push(row?);
        }
        Ok(rows)
    }
}

impl View {
    /// Reads what is needed soon, in one round trip, if it will be remembered.
    pub(crate) fn read_ahead(&self, wanted: impl FnOnce() -> Wanted) -> Result<()> {
        if self.remembers {
            go_on()?;
            self.snapshot.read(&wanted())?;
        }
        Ok(())
    }

    /// The same view for an answer about many resources, which have the collections above them in common: it reads nothing twice.
    pub(crate) fn cached(self) -> Self {
        let snapshot = Box::new(CachingSnapshot::over(self.snapshot, usize::MAX));
        Self { snapshot, remembers: true, ..self }
    }

    /// The last row of a range.
    pub(crate) fn last(&self, range: &KeyRange) -> Result<Option<Row>> {
        Ok(self.snapshot.scan(range, ScanOptions::limit(1).reversed()).next().transpose()?)
    }

    /// The records of many resources, in the requested order.
    ///
    /// Children that were created together have adjacent ids: one scan then costs a
    /// tenth of as many point reads.
    pub(crate) fn resources(&self, ids: &[ResourceId]) -> Result<Vec<Option<Resource>>> {
        self.records(ids, keys::resource)
    }

    /// The descriptions of many resources, in the requested order, at the same cost.
    pub(crate) fn graphs(&self, ids: &[ResourceId]) -> Result<Vec<Option<GraphRecord>>> {
        self.records(ids, |id| keys::graph(id.0))
    }

    fn records<T: Record>(
        &self,
        ids: &[ResourceId],
        key: impl Fn(ResourceId) -> Bytes,
    ) -> Result<Vec<Option<T>>> {
        let values = self.values_of(ids, key)?;
        values.iter().map(|value| value.as_ref().map(|it| T::from_value(it)).transpose()).collect()
    }

    /// The values of many resources in one table, in the requested order.
    pub(crate) fn values_of(
        &self,
        ids: &[ResourceId],
        key: impl Fn(ResourceId) -> Bytes,
    ) -> Result<Vec<Option<Bytes>>> {
        let (Some(first), Some(last)) = (ids.iter().min(), ids.iter().max()) else {
            return Ok(Vec::new());
        };
        if last.0 - first.0 > (ids.len() as u64).saturating_mul(DENSE) {
            let keys: Vec<Bytes> = ids.iter().map(|id| key(*id)).collect();
            return self.values(&keys);
        }
        let most = (last.0 - first.0).saturating_add(1) as usize;
        let rows = self.rows(&keys::through(key(*first), &key(*last)), most)?;
        let mut found = Vec::with_capacity(rows.len());
        let with_id = |(key, value): Row| Some((keys::first_id(&key)?, value));
        found.extend(rows.into_iter().filter_map(with_id));
        Ok(pick(&found, ids))
    }
}

/// The values of these ids among rows in the order of their ids.
fn pick(rows: &[(u64, Bytes)], ids: &[ResourceId]) -> Vec<Option<Bytes>> {
    let mut next = 0;
    let mut value = |id: u64| {
        // Names in order often have ids in order: the next row is tried before a search.
        let place = match rows.get(next) {
            Some((found, _)) if *found == id => next,
            _ => rows.binary_search_by_key(&id, |(found, _)| *found).ok()?,
        };
        next = place + 1;
        Some(rows[place].1.clone())
    };
    ids.iter().map(|id| value(id.0)).collect()
}

/// For how many rows of a scan memory is reserved, so that a page is not moved each time it grows.
fn foreseen(limit: usize) -> usize {
    match limit {
        usize::MAX => 0,
        limit => limit.min(1_024),
    }
}

/// How many ids a scan may skip for each that is wanted.
const DENSE: u64 = 8;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_id_gets_its_own_value(
            rows in proptest::collection::btree_map(0_u64..40, 0_u8..=255, 0..20),
            ids in proptest::collection::vec(0_u64..40, 0..20),
        ) {
            let rows: BTreeMap<u64, Bytes> =
                rows.into_iter().map(|(id, value)| (id, vec![value].into())).collect();
            let sorted: Vec<_> = rows.clone().into_iter().collect();
            let wanted: Vec<_> = ids.iter().map(|id| ResourceId(*id)).collect();
            let expected: Vec<_> = ids.iter().map(|id| rows.get(id).cloned()).collect();
            prop_assert_eq!(pick(&sorted, &wanted), expected);
        }
    }
}
