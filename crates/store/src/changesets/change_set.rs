//! One change set.
//!
//! Invariant: changes in it are made one after the other, and so are requests; nothing is changed once it has ended.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cenote_kv::Layered;

use super::base::Base;
use super::counts::Ends;
use super::draft::Draft;
use super::open::Share;
use super::{ChangeSet, ChangeSetId, ChangeSetState};
use crate::catalog::Transaction;
use crate::model::{PersonId, ResourceId, Rights, Role, Time};
use crate::{Caller, Error, ErrorKind, Result, Store, describe, quotas};

/// The creator of a change set, and their rights: another credential of the same user can be used, if it allows the same.
#[derive(Debug, PartialEq, Eq)]
struct Maker {
    user: PersonId,
    role: Role,
    elevated: bool,
    ceiling: Rights,
    within: Option<ResourceId>,
}

impl From<&Caller> for Maker {
    fn from(caller: &Caller) -> Self {
        Self {
            user: caller.user(),
            role: caller.role(),
            elevated: caller.is_elevated(),
            ceiling: caller.ceiling(),
            within: caller.within(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct OpenChangeSet {
    id: ChangeSetId,
    maker: Maker,
    name: Arc<str>,
    begun: Time,
    idle: Duration,
    until: Time,
    state: Mutex<State>,
    /// Held while a change is made.
    changing: Mutex<()>,
    /// Held while a request is in progress.
    pub(super) request: Arc<tokio::sync::Mutex<()>>,
    /// Counts its end.
    ends: Arc<Ends>,
}

#[derive(Debug)]
pub(super) struct State {
    expires: Time,
    /// None once it has ended.
    pub(super) draft: Option<(Draft, Share)>,
    how: ChangeSetState,
    /// As they were at its end.
    size: (u64, u64),
}

impl OpenChangeSet {
    pub(super) fn new(
        store: &Store,
        caller: &Caller,
        (id, idle): (ChangeSetId, Duration),
        draft: Draft,
        (bytes, ends): (Arc<AtomicUsize>, Arc<Ends>),
    ) -> Self {
        let now = store.now();
        let draft = Some((draft, Share::new(bytes)));
        let (expires, how) = (now.plus(idle), ChangeSetState::Open);
        Self {
            id,
            maker: caller.into(),
            name: caller.name().into(),
            begun: now,
            idle,
            until: now.plus(store.parts().change_sets.life),
            state: Mutex::new(State { expires, draft, how, size: (0, 0) }),
            changing: Mutex::default(),
            request: Arc::default(),
            ends,
        }
    }

    pub(super) fn is_of(&self, caller: &Caller) -> bool {
        self.maker == Maker::from(caller) && caller.shown_ticket().is_none()
    }

    pub(super) fn user(&self) -> PersonId {
        self.maker.user
    }

    pub(super) fn describe(&self) -> ChangeSet {
        let state = self.state();
        let open = state.draft.as_ref().map(|(draft, _)| (draft.count, draft.written() as u64));
        let (changes, bytes) = open.unwrap_or(state.size);
        ChangeSet {
            id: self.id,
            owner: self.name.to_string(),
            begun: self.begun,
            expires: state.expires,
            until: self.until,
            state: state.how,
            changes,
            bytes,
        }
    }

    pub(super) fn begun(&self) -> Time {
        self.begun
    }

    /// Counts as a use.
    pub(super) fn touch(&self, now: Time) {
        let mut state = self.state();
        if state.draft.is_some() {
            state.expires = now.plus(self.idle).min(self.until);
        }
    }

    /// Whether its time is over. While a request is in progress in it, it is used.
    pub(super) fn is_over(&self, now: Time) -> bool {
        let state = self.state();
        let unused = || state.expires <= now && self.request.try_lock().is_ok();
        state.draft.is_some() && (self.until <= now || unused())
    }

    /// When it ended.
    pub(super) fn ended(&self) -> Option<Time> {
        let state = self.state();
        state.draft.is_none().then_some(state.expires)
    }

    /// Ends it, unless it has ended, after the current change. Returns whether it did.
    pub(super) fn end(&self, how: ChangeSetState, now: Time) -> bool {
        let _changing = self.changing();
        self.end_now(how, now)
    }

    /// The same for the holder of [`OpenChangeSet::changing`].
    pub(super) fn end_now(&self, how: ChangeSetState, now: Time) -> bool {
        let ended = {
            let mut state = self.state();
            let ended = state.draft.take();
            if let Some((draft, _)) = &ended {
                (state.how, state.expires) = (how, now);
                state.size = (draft.count, draft.written() as u64);
            }
            ended
        };
        if ended.is_some() {
            self.ends.add(how);
        }
        // Follow-up work is done without the lock.
        ended.is_some()
    }

    /// Refuses once it has ended.
    pub(super) fn require_open(&self) -> Result<()> {
        match self.state().how {
            ChangeSetState::Open => Ok(()),
            how => Err(ended(how)),
        }
    }

    /// What it sees.
    pub(super) fn open_view(&self) -> Option<Layered> {
        self.view().map(|(view, _)| view)
    }

    fn view(&self) -> Option<(Layered, Arc<Base>)> {
        self.state().draft.as_ref().map(|(draft, _)| draft.view())
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds evidence.
    pub(super) fn rest_on(
        &self,
        store: &Store,
        look: impl FnOnce(&Transaction) -> Result<()>,
    ) -> Result<()> {
        let (tx, base) = self.begin(store)?;
        look(&tx)?;
        self.take(store, tx, &base)
    }

    fn begin(&self, store: &Store) -> Result<(Transaction, Arc<Base>)> {
        let (view, base) = self.view().ok_or_else(|| ended(self.state().how))?;
        let edges = store.inner.edges.clone();
        Ok((Transaction::new(Box::new(view), edges, store.now()), base))
    }

    fn take(&self, store: &Store, mut tx: Transaction, base: &Base) -> Result<()> {
        let limits = store.parts().change_sets;
        let most = limits.bytes.min(store.parts().engine.limits().batch);
        describe::bind_late(&mut tx)?;
        describe::record_classes(&mut tx)?;
        quotas::settle(&mut tx)?;
        // The snapshot is released first, so that its data need not be copied.
        let work = tx.into_work();
        let mut state = self.state();
        let Some((draft, share)) = &mut state.draft else {
            drop(state);
            return self.require_open();
        };
        share.has_room(limits.all_bytes)?;
        draft.take(work, base, most)?;
        share.set(draft.size());
        Ok(())
    }

    /// Makes a change in it: what it wrote is seen by the next one. It is not tried again: nobody else changes what it sees.
    fn change<T>(
        &self,
        store: &Store,
        change: impl FnOnce(&mut Transaction) -> Result<T>,
    ) -> Result<T> {
        let _changing = self.changing();
        let (mut tx, base) = self.begin(store)?;
        let answer = change(&mut tx)?;
        if !tx.is_empty() {
            self.take(store, tx, &base)?;
        }
        Ok(answer)
    }
}

/// The refusal of what comes after the end.
fn ended(how: ChangeSetState) -> Error {
    let (what, hint) = match how {
        ChangeSetState::Committed => ("it was committed", "begin another one for further changes"),
        ChangeSetState::Unknown => {
            ("the catalog failed during its commit", "check whether its changes were made")
        }
        ChangeSetState::Conflicted => ("somebody else changed what it depends on", AGAIN),
        ChangeSetState::Expired => ("it has expired", AGAIN),
        ChangeSetState::Dropped | ChangeSetState::Open => ("it was dropped", AGAIN),
    };
    Error::new(ErrorKind::Expired, format!("the change set has ended: {what}")).with_hint(hint)
}

const AGAIN: &str = "begin another one, and make the changes again";

impl Store {
    /// Whether this is the store as a change set sees it.
    pub(crate) fn is_within(&self) -> bool {
        self.within.is_some()
    }

    /// The store itself.
    pub(crate) fn itself(&self) -> Self {
        Self { inner: self.inner.clone(), within: None, moment: None }
    }

    /// What the change set that this is sees; none, if this is the store itself, or the set was committed.
    pub(crate) fn view_within(&self) -> Result<Option<Layered>> {
        let Some(set) = &self.within else { return Ok(None) };
        match set.open_view() {
            Some(view) => Ok(Some(view)),
            None => match set.state().how {
                // The data still being read is now in the store.
                ChangeSetState::Committed => Ok(None),
                how => Err(ended(how)),
            },
        }
    }

    /// Makes a change in the change set that this is.
    pub(crate) fn change_within<T>(
        &self,
        set: &OpenChangeSet,
        change: impl FnOnce(&mut Transaction) -> Result<T>,
    ) -> Result<T> {
        self.inner.latch_check()?;
        set.change(self, change)
    }
}
