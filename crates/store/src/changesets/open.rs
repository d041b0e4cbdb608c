//! The change sets of a process.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cenote_kv::{KeyRange, ScanOptions, Snapshot};

use super::base::Base;
use super::change_set::OpenChangeSet;
use super::counts::{ChangeSetCounts, Ends};
use super::draft::Draft;
use super::{ChangeSet, ChangeSetId};
use crate::catalog::{Reads, keys};
use crate::model::{ContentId, PersonId, Time};
use crate::{Caller, Error, ErrorKind, Result, Store};

/// Those that are open, and those that ended lately.
#[derive(Debug, Default)]
pub(crate) struct ChangeSets {
    sets: Mutex<HashMap<ChangeSetId, Arc<OpenChangeSet>>>,
    /// What all of them keep in memory.
    bytes: Arc<AtomicUsize>,
    ends: Arc<Ends>,
}

impl ChangeSets {
    /// The snapshot is taken under the lock: a sweep that does not see the set began before it.
    pub(super) fn begin(
        &self,
        store: &Store,
        caller: &Caller,
        (id, idle): (ChangeSetId, Duration),
    ) -> Result<ChangeSet> {
        let mut sets = self.sets();
        check_number(store, &sets, caller.user())?;
        let engine = &store.parts().engine;
        let base = Base::new(store.snapshot_to_keep()?.into(), engine.clone());
        let shared = (self.bytes.clone(), self.ends.clone());
        let set = OpenChangeSet::new(store, caller, (id, idle), Draft::new(base), shared);
        // The whole change set depends on the account and its groups, and on the format of what it changes.
        let ground = [keys::person(caller.user()), keys::setting("format")];
        set.rest_on(store, |tx| tx.values(&ground).map(drop))?;
        let begun = set.describe();
        sets.insert(id, Arc::new(set));
        Ok(begun)
    }

    pub(super) fn get(&self, id: ChangeSetId) -> Option<Arc<OpenChangeSet>> {
        self.sets().get(&id).cloned()
    }

    pub(super) fn all(&self) -> Vec<Arc<OpenChangeSet>> {
        self.sets().values().cloned().collect()
    }

    pub(super) fn counts(&self) -> ChangeSetCounts {
        let open = self.sets().values().filter(|set| set.ended().is_none()).count();
        let bytes = self.bytes.load(Ordering::Relaxed) as u64;
        ChangeSetCounts { open: open as u64, bytes, ended: self.ends.counts() }
    }

    /// When the oldest open one was begun.
    pub(crate) fn oldest(&self) -> Option<Time> {
        let sets = self.sets();
        sets.values().filter(|set| set.ended().is_none()).map(|set| set.begun()).min()
    }

    /// Forgets those that ended before.
    pub(super) fn forget(&self, before: Time) {
        self.sets().retain(|_, set| set.ended().is_none_or(|ended| ended > before));
    }

    /// Whether an open change set sees a content in use that is not any more.
    pub(crate) fn use_content(&self, content: ContentId) -> Result<bool> {
        let range: KeyRange = keys::content_users(content);
        for set in self.sets().values() {
            let Some(view) = set.open_view() else { continue };
            if view.scan(&range, ScanOptions::limit(1)).next().transpose()?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn sets(&self) -> MutexGuard<'_, HashMap<ChangeSetId, Arc<OpenChangeSet>>> {
        self.sets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check_number(
    store: &Store,
    sets: &HashMap<ChangeSetId, Arc<OpenChangeSet>>,
    user: PersonId,
) -> Result<()> {
    let limits = store.parts().change_sets;
    let open = || sets.values().filter(|set| set.ended().is_none());
    let (all, own) = (open().count(), open().filter(|set| set.user() == user).count());
    let (most, whose) = match (own >= limits.of_user, all >= limits.all) {
        (true, _) => (limits.of_user, "of yours"),
        (_, true) => (limits.all, "of all users"),
        _ => return Ok(()),
    };
    Err(Error::new(ErrorKind::TooLarge, format!("{most} change sets {whose} are open"))
        .with_hint("commit or drop one, or wait until one expires"))
}

/// Counts what a set keeps, until it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    all: Arc<AtomicUsize>,
    bytes: usize,
}

impl Share {
    pub(super) fn new(all: Arc<AtomicUsize>) -> Self {
        Self { all, bytes: 0 }
    }

    /// Whether all together keep no more than `most`.
    pub(super) fn has_room(&self, most: usize) -> Result<()> {
        match self.all.load(Ordering::Relaxed) < most {
            true => Ok(()),
            false => Err(Error::new(
                ErrorKind::NoSpace,
                format!("all change sets together hold {} MiB", most >> 20),
            )
            .with_hint(
                "commit or drop a change set, or try again later; this change was not made",
            )),
        }
    }

    pub(super) fn set(&mut self, bytes: usize) {
        self.all.fetch_add(bytes, Ordering::Relaxed);
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = bytes;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.set(0);
    }
}
