//! Which attempt the changes of a stage are: a change that was given up may still arrive, and must not undo what was sent after it.
//!
//! Invariant: what is sent after a change whose outcome is not known has a higher number, so the server refuses that change from then on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use cenote_client::Attempt;

use crate::error::Result;

/// A stage on the server, and how many changes of it were given up.
#[derive(Debug)]
pub(super) struct Attempts {
    stage: Mutex<String>,
    given_up: AtomicU64,
}

/// The stage for one change.
#[derive(Debug, Clone)]
pub(super) struct Numbered {
    stage: String,
    number: u64,
}

impl Attempts {
    pub(super) fn of(stage: String) -> Self {
        Self { stage: Mutex::new(stage), given_up: AtomicU64::new(0) }
    }

    /// The stage, for the change that is sent next.
    pub(super) fn next(&self) -> Numbered {
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Numbered { stage, number: self.given_up.load(Ordering::Acquire) }
    }

    /// Notes whether a change may still arrive.
    pub(super) fn note<T>(&self, outcome: &Result<T>) {
        if outcome.as_ref().is_err_and(|fault| fault.may_be_done()) {
            self.give_up();
        }
    }

    /// A change that may still arrive is sent again, or others instead.
    pub(super) fn give_up(&self) {
        self.given_up.fetch_add(1, Ordering::AcqRel);
    }

    /// What is written from now on goes to another stage.
    pub(super) fn replace(&self, stage: String) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
    }
}

impl Numbered {
    pub(super) fn id(&self) -> &str {
        &self.stage
    }

    pub(super) fn attempt(&self) -> Attempt<'_> {
        Attempt { id: &self.stage, number: self.number }
    }
}
