//! The digests that are missing, computed in the background.
//!
//! Invariant: no content holds up the digest of another. Many are read in turns, a chunk each, and so many of them at most are large
//! that there is always a turn for small ones.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;

use crate::catalog::{Reads, keys};
use crate::faults::Faults;
use crate::maintain::Pace;
use crate::model::{Resource, ResourceId, Time};
use crate::resources::is_undigested;
use crate::{Result, Store};

/// The number of rows examined at a time.
const STEP: usize = 1_000;
/// How many contents are read at a time.
const MOST: usize = 32;
/// How many of them may be large.
const MOST_LARGE: usize = 16;
/// Larger ones than this, in bytes, are large.
const LARGE: u64 = 64 << 20;

/// The contents that are read to digest them.
pub(crate) struct Digesting<'a> {
    store: &'a Store,
    pace: Pace,
    /// Those that wait, the smallest first.
    small: VecDeque<ResourceId>,
    large: VecDeque<ResourceId>,
    /// Those that are read, and whether they are large.
    under_way: BTreeMap<ResourceId, bool>,
    reading: FuturesUnordered<BoxFuture<'a, (ResourceId, Result<()>)>>,
    /// Objects whose digest could not be computed, and when that was. They are left alone for as long as a reader may take.
    failed: BTreeMap<ResourceId, Time>,
}

impl<'a> Digesting<'a> {
    pub(crate) fn new(store: &'a Store, pace: Pace) -> Self {
        let ((small, large), (under_way, failed)) = Default::default();
        Self { store, pace, small, large, under_way, reading: FuturesUnordered::new(), failed }
    }

    /// Finds those that wait.
    pub(crate) async fn look(&mut self) -> Result<()> {
        let patience = self.store.now().minus(self.pace.grace);
        self.failed.retain(|_, when| *when > patience);
        let mut waiting = self.store.undigested_objects(self.pace.quiet).await?;
        waiting.retain(|(_, id)| !self.failed.contains_key(id) && !self.under_way.contains_key(id));
        let small = waiting.partition_point(|(size, _)| *size <= LARGE);
        self.large = waiting.split_off(small).into_iter().map(|(_, id)| id).collect();
        self.small = waiting.into_iter().map(|(_, id)| id).collect();
        Ok(())
    }

    /// Computes the digests of those that were found.
    ///
    /// # Errors
    /// The first fault, after everything was tried.
    pub(crate) async fn run(&mut self) -> Result<()> {
        let mut faults = Faults::default();
        loop {
            self.begin();
            let Some((id, result)) = self.reading.next().await else { return faults.first() };
            self.under_way.remove(&id);
            if faults.add(result).is_none() {
                self.failed.insert(id, self.store.now());
            }
        }
    }

    /// Begins to read some, as far as there is room.
    fn begin(&mut self) {
        while let Some((id, is_large)) = self.next_waiting() {
            let store = self.store;
            self.under_way.insert(id, is_large);
            self.reading.push(Box::pin(async move { (id, store.digest_and_sum(id).await) }));
        }
    }

    fn next_waiting(&mut self) -> Option<(ResourceId, bool)> {
        let large = self.under_way.values().filter(|is_large| **is_large).count();
        if self.under_way.len() >= MOST {
            return None;
        }
        let small = self.small.pop_front().map(|id| (id, false));
        small.or_else(|| {
            let room = large < MOST_LARGE;
            room.then(|| self.large.pop_front()).flatten().map(|id| (id, true))
        })
    }
}

impl Store {
    /// All contents not written to since `quiet`, with their sizes, the smallest first.
    async fn undigested_objects(&self, quiet: Duration) -> Result<Vec<(u64, ResourceId)>> {
        let before = self.now().minus(quiet);
        self.blocking(move |store| {
            let mut range = keys::all_undigested();
            let mut ids = Vec::new();
            loop {
                let view = store.view()?;
                let rows = view.rows(&range, STEP)?;
                for id in rows.iter().filter_map(|(key, _)| keys::last_id(key)).map(ResourceId) {
                    let resource = view.get::<Resource>(&keys::resource(id)).unwrap_or_default();
                    let quiet = resource.filter(|r| is_undigested(r) && r.written() < before);
                    ids.extend(quiet.and_then(|r| Some((r.content?.size, id))));
                }
                match rows.last() {
                    Some((last, _)) if rows.len() == STEP => range = range.after(last),
                    _ => break,
                }
            }
            ids.sort_unstable();
            Ok(ids)
        })
        .await
    }
}
