//! Whether anybody still waits for the result of a thread.
//!
//! Invariant: cancelled work stops at its next read of the catalog, whatever it is, and never in a commit: it changes
//! nothing more, and what it has committed stays.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Error, ErrorKind, Result};

thread_local! {
    static WORK: RefCell<Option<Work>> = const { RefCell::new(None) };
}

/// A caller who waits for work; dropped when they have the answer, or have gone.
#[derive(Debug, Default)]
pub struct Waiting(Work);

/// Work that somebody waits for.
#[derive(Debug, Clone, Default)]
pub struct Work(Arc<AtomicBool>);

impl Waiting {
    /// The work that is waited for.
    pub fn work(&self) -> Work {
        self.0.clone()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

impl Work {
    /// Runs something on this thread. Once nobody waits, its calls on a store fail with [`ErrorKind::Unavailable`].
    pub fn run<T>(self, work: impl FnOnce() -> T) -> T {
        under(Some(self), work)
    }
}

/// Runs what has to be done whether anybody waits or not.
pub(crate) fn anyway<T>(work: impl FnOnce() -> T) -> T {
    under(None, work)
}

fn under<T>(work: Option<Work>, run: impl FnOnce() -> T) -> T {
    let _before = Before(WORK.replace(work));
    run()
}

/// Restores what the thread worked on before, also after a panic.
struct Before(Option<Work>);

impl Drop for Before {
    fn drop(&mut self) {
        WORK.replace(self.0.take());
    }
}

/// Fails if the work was cancelled.
pub(crate) fn go_on() -> Result<()> {
    let given_up = |work: &Work| work.0.load(Ordering::Relaxed);
    match WORK.with_borrow(|work| work.as_ref().is_some_and(given_up)) {
        true => Err(Error::new(ErrorKind::Unavailable, "the caller has gone")),
        false => Ok(()),
    }
}
