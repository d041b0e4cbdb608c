//! One moment of the store for an answer that consists of several: over a network they share a snapshot and what was read in it.
//!
//! Invariants: a change through the store ends the moment, so whoever changes something sees the change. A change is itself made on what
//! the moment saw, if that is still so when it is committed. The moment ends with the answer at the latest: what is kept of the store beyond it, such as a content being sent, holds no snapshot at a client's pace.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cenote_kv::{Snapshot, Wanted};

use crate::catalog::{CachingSnapshot, View};
use crate::{Result, Store};

/// The moment of an answer.
#[derive(Debug, Default)]
pub(crate) struct Moment(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The snapshot, from the first read on, with [`Pins::moment`](crate::contents::Pins::moment) before it.
    begun: Option<(CachingSnapshot, u64)>,
    /// Whether the answer was given.
    over: bool,
}

/// Ends a moment with the answer, also if that panics.
struct Answering(Option<Arc<Moment>>);

impl Drop for Answering {
    fn drop(&mut self) {
        if let Some(moment) = &self.0 {
            *moment.state() = State { begun: None, over: true };
        }
    }
}

impl Moment {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is read from now on is of another moment.
    pub(crate) fn end(&self) {
        self.state().begun = None;
    }
}

impl Store {
    /// Gives an answer with the store, whose reads are then all of the moment of the first, until something is changed through it. The
    /// reads of an embedded store, which cost little, are each of their own moment, as ever.
    pub fn at_one_moment<T>(&self, answer: impl FnOnce(&Self) -> T) -> T {
        let is_far = self.parts().engine.is_shared() && self.within.is_none();
        let moment = is_far.then(Arc::<Moment>::default);
        let _answering = Answering(moment.clone());
        answer(&Self { moment, ..self.clone() })
    }

    /// The snapshot of the moment that this is, if it was begun and lasts.
    pub(crate) fn begun_moment(&self) -> Option<Box<dyn Snapshot>> {
        let state = self.moment.as_ref()?.state();
        let (snapshot, _) = state.begun.as_ref()?;
        Some(Box::new(snapshot.clone()))
    }

    /// The view of the moment that this is, if it lasts. It is likely to need what is `wanted`.
    pub(crate) fn view_in_moment(&self, wanted: impl FnOnce() -> Wanted) -> Result<Option<View>> {
        let Some(moment) = &self.moment else { return Ok(None) };
        let mut state = moment.state();
        if state.over {
            return Ok(None);
        }
        let (snapshot, moment) = match &state.begun {
            Some(begun) => {
                begun.0.read(&wanted())?;
                begun.clone()
            }
            None => {
                // Before the snapshot, as in every view.
                let pins = self.inner.pins.moment();
                let ahead = self.ahead(wanted())?;
                state.begun.insert((ahead, pins)).clone()
            }
        };
        let (snapshot, edges) = (Box::new(snapshot), self.inner.edges.clone());
        Ok(Some(View { snapshot, edges, moment, remembers: true }))
    }
}

#[cfg(test)]
mod tests {
    use crate::servers::testing::pair;
    use crate::{At, Caller, CreateOptions, Draft, ErrorKind, Store};

    fn at(path: &str) -> At {
        At::Path(path.parse().unwrap())
    }

    fn admin(store: &Store) -> Caller {
        store.caller_for(store.person_named("root").unwrap().0).unwrap()
    }

    fn make(store: &Store, path: &str) {
        let made =
            store.create(&admin(store), &at(path), Draft::Collection, CreateOptions::default());
        made.unwrap();
    }

    fn is_there(store: &Store, path: &str) -> bool {
        store.stat(&admin(store), &at(path)).is_ok()
    }

    #[test]
    fn the_reads_of_an_answer_are_of_one_moment_until_it_changes_something() {
        let (one, other, _) = pair();
        one.at_one_moment(|store| {
            assert!(!is_there(store, "/a"));
            make(&other, "/a");
            assert!(!is_there(store, "/a"), "of the same moment");
            assert!(is_there(&one, "/a"));
            make(store, "/b");
            assert!(is_there(store, "/a") && is_there(store, "/b"));
        });
    }

    #[test]
    fn a_change_begins_on_what_the_moment_saw_and_again_if_that_was_changed() {
        let (one, other, _) = pair();
        one.at_one_moment(|store| {
            assert!(!is_there(store, "/a"));
            make(&other, "/b");
            assert!(!is_there(store, "/b"));
            make(store, "/a");
            assert!(is_there(store, "/a") && is_there(store, "/b"));
        });
        one.at_one_moment(|store| {
            assert!(!is_there(store, "/c"));
            make(&other, "/c");
            let options = CreateOptions::default();
            let made = store.create(&admin(store), &at("/c"), Draft::Collection, options);
            assert_eq!(made.unwrap_err().kind(), ErrorKind::Exists);
        });
    }

    #[test]
    fn what_is_kept_of_an_answer_is_of_no_moment() {
        let (one, other, _) = pair();
        let kept = one.at_one_moment(|store| {
            assert!(!is_there(store, "/a"));
            store.clone()
        });
        assert!(kept.moment.as_ref().unwrap().state().begun.is_none());
        make(&other, "/a");
        assert!(is_there(&kept, "/a"));
        assert!(kept.moment.as_ref().unwrap().state().begun.is_none());
    }
}
