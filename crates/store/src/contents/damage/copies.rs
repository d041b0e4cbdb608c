//! Copies that a read found damaged or missing. They are repaired by the next round of maintenance; those that cannot be are
//! marked in the catalog until they can. A note that a stopped process loses is made again by the next read, or by a check.
//!
//! Invariant: damage that is marked in the catalog is marked here, so that a lookup costs nothing while there is none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::access::{Act, Chain};
use crate::catalog::{BlobRecord, DamageRecord, Reads, Record, View, damage as rows, keys};
use crate::contents::{blob_ids, resolve};
use crate::model::{ContentHead, PlaceId, ResourceId, StorePath, Time};
use crate::{BlobId, Caller, Result, Store};

/// A copy of a blob.
type Copy = (BlobId, PlaceId);

/// The copies to be repaired.
#[derive(Debug, Clone)]
pub(crate) struct Damage {
    state: Arc<Mutex<State>>,
    found: Arc<AtomicU64>,
    mended: Arc<AtomicU64>,
    scrubbed: Arc<AtomicU64>,
    work: Arc<Notify>,
}

#[derive(Debug, Default)]
struct State {
    /// The copies to examine, and the results.
    noted: BTreeMap<Copy, String>,
    marked: BTreeSet<Copy>,
}

/// How often damage was found and repaired since the store was opened, and how much of it is known now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DamageCounts {
    /// Copies of blobs that were found damaged or missing.
    pub found: u64,
    /// Those that were rewritten.
    pub mended: u64,
    /// Copies that are damaged now.
    pub damaged: u64,
    /// The bytes that were read to find damage.
    pub scrubbed: u64,
    /// How often the process met damage of a catalog: a row that cannot be read, or has another checksum.
    pub rows: u64,
}

/// A damaged copy of a blob that could not be repaired, and its objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedCopy {
    /// The blob.
    pub blob: BlobId,
    /// The name of the place that the copy is in.
    pub place: String,
    /// When that was found.
    pub found: Time,
    /// What was found, in a sentence.
    pub what: String,
    /// The objects that have bytes in it, now or in a version.
    pub objects: Vec<StorePath>,
}

/// More than these are left to be found again.
const MOST: usize = 10_000;

impl Damage {
    /// Rings `work` for each note.
    pub(crate) fn new(work: Arc<Notify>) -> Self {
        Self {
            state: Arc::default(),
            found: Arc::default(),
            mended: Arc::default(),
            scrubbed: Arc::default(),
            work,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note(&self, blob: BlobId, place: PlaceId, what: &cenote_blob::Error) {
        self.found.fetch_add(1, Ordering::Relaxed);
        let mut state = self.state();
        if state.noted.len() < MOST && !state.noted.contains_key(&(blob, place)) {
            tracing::warn!(%blob, %place, %what, "a copy is damaged or missing");
            state.noted.insert((blob, place), what.to_string());
            self.work.notify_one();
        }
    }

    pub(crate) fn count_mended(&self) {
        self.mended.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_scrubbed(&self, bytes: u64) {
        self.scrubbed.fetch_add(bytes, Ordering::Relaxed);
    }

    /// All that is noted, to be noted again if it cannot be repaired.
    pub(crate) fn take(&self) -> BTreeMap<Copy, String> {
        std::mem::take(&mut self.state().noted)
    }

    /// Whether a copy is known to be damaged beyond repair.
    pub(crate) fn has_marked(&self, blob: BlobId, place: PlaceId) -> bool {
        self.state().marked.contains(&(blob, place))
    }

    fn is_marked(&self, blob: BlobId) -> bool {
        let (state, first) = (self.state(), (blob, PlaceId(0)));
        let has = |copy: Option<&Copy>| copy.is_some_and(|(found, _)| *found == blob);
        has(state.marked.range(first..).next())
            || has(state.noted.range(first..).next().map(|(copy, _)| copy))
    }

    fn is_empty(&self) -> bool {
        let state = self.state();
        state.marked.is_empty() && state.noted.is_empty()
    }
}

impl Store {
    /// The records of damage to contents.
    pub fn damage_counts(&self) -> DamageCounts {
        let damage = &self.inner.damage;
        let counts = [&damage.found, &damage.mended, &damage.scrubbed];
        let [found, mended, scrubbed] = counts.map(|count| count.load(Ordering::Relaxed));
        let state = damage.state();
        let fresh = state.noted.keys().filter(|copy| !state.marked.contains(copy)).count();
        let damaged = (state.marked.len() + fresh) as u64;
        DamageCounts { found, mended, damaged, scrubbed, rows: rows::found() }
    }

    /// Whether a copy of a blob of a content is known to be damaged.
    pub fn is_damaged(&self, head: &ContentHead) -> Result<bool> {
        if self.inner.damage.is_empty() {
            return Ok(false);
        }
        let extents = resolve(&self.view()?, head)?;
        Ok(blob_ids(&extents).any(|blob| self.inner.damage.is_marked(blob)))
    }

    /// The copies that are damaged and could not be repaired. Needs [`Act::Inspect`].
    pub fn damaged(&self, caller: &Caller) -> Result<Vec<DamagedCopy>> {
        caller.require(Act::Inspect)?;
        let (view, known) = (self.view()?, self.known());
        let mut damaged = Vec::new();
        for (key, value) in view.rows(&keys::all_damage(), MOST)? {
            let Some((blob, place)) = keys::damage_parts(&key) else { continue };
            let DamageRecord { found, what } = DamageRecord::from_value(&value)?;
            let (place, objects) = (known.name(place), objects_in(&view, blob)?);
            damaged.push(DamagedCopy { blob, place, found, what, objects });
        }
        Ok(damaged)
    }

    /// Reads which copies are marked, so that they are examined again.
    pub(crate) fn load_damage(&self) -> Result<()> {
        let rows = self.view()?.rows(&keys::all_damage(), MOST)?;
        let mut state = self.inner.damage.state();
        for (key, value) in &rows {
            if let Some(copy) = keys::damage_parts(key) {
                let what = DamageRecord::from_value(value).map(|record| record.what);
                state.marked.insert(copy);
                state.noted.insert(copy, what.unwrap_or_default());
            }
        }
        Ok(())
    }

    /// Marks a copy as damaged, if it is still there.
    pub(crate) async fn mark(&self, blob: BlobId, place: PlaceId, what: String) -> Result<()> {
        let marked = self.blocking(move |store| {
            store.transact(|tx| {
                let record = tx.get::<BlobRecord>(&keys::blob(blob))?;
                let there = record.is_some_and(|record| record.copy_in(place).is_some());
                let key = keys::damage(blob, place);
                if there && !tx.has(&key)? {
                    tx.put(key, &DamageRecord { found: tx.now(), what: what.clone() });
                }
                Ok(there)
            })
        });
        if marked.await? {
            self.inner.damage.state().marked.insert((blob, place));
        }
        Ok(())
    }

    /// Takes the mark of a copy away.
    pub(crate) async fn unmark(&self, blob: BlobId, place: PlaceId) -> Result<()> {
        if self.inner.damage.state().marked.contains(&(blob, place)) {
            let unmark = move |store: &Self| {
                store.transact(|tx| {
                    tx.delete(keys::damage(blob, place));
                    Ok(())
                })
            };
            self.blocking(unmark).await?;
            self.inner.damage.state().marked.remove(&(blob, place));
        }
        Ok(())
    }
}

/// The objects that have bytes in a blob, in path order.
fn objects_in(view: &View, blob: BlobId) -> Result<Vec<StorePath>> {
    let mut paths = BTreeSet::new();
    for (key, _) in view.rows(&keys::blob_users(blob), MOST)? {
        let Some((_, content)) = keys::blob_user_parts(&key) else { continue };
        for (user, _) in view.rows(&keys::content_users(content), MOST)? {
            let id = keys::id_at(&user, 9).map(ResourceId);
            let chain = id.map(|id| Chain::read(view, id)).transpose()?.flatten();
            paths.extend(chain.map(|chain| chain.path().to_string()));
        }
    }
    paths.iter().map(|path| path.parse()).collect()
}
