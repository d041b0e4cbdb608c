//! Commits of which nobody knows whether they happened, since the catalog could not be asked.
//!
//! In a catalog of one process a disk has failed then, and the store takes no more changes. A catalog that several servers share was
//! only out of reach: what it answers later is right for all servers, so changes go on, and the caller of that one gets the
//! answer that its outcome is unknown.
//!
//! Invariant: as long as there is such a commit, no copy is deleted that it may have recorded. Asking the catalog decides: what has not
//! happened by then never does ([`cenote_kv::Engine::outcome`]).

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cenote_kv::{Token, Version};

use crate::{Error, Parts, Result, Store};

/// A caller waits so long for a shared catalog that is out of reach, as while a database is restarted.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time between two questions.
const PAUSE: Duration = Duration::from_millis(200);

/// The tokens of those commits.
#[derive(Debug, Default)]
pub(crate) struct Undecided(Mutex<Vec<Token>>);

impl Undecided {
    fn tokens(&self) -> MutexGuard<'_, Vec<Token>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// What became of a commit.
    pub(crate) fn outcome(&self, token: &Token) -> Result<Option<Version>> {
        let Parts { engine, clock, .. } = self.parts();
        let until = clock.steady() + PATIENCE;
        let most = if self.is_shared() { PATIENCE.as_millis() / PAUSE.as_millis() } else { 0 };
        for _ in 0..most {
            match engine.outcome(token) {
                Err(_) if clock.steady() < until => clock.sleep(PAUSE),
                outcome => return Ok(outcome?),
            }
        }
        Ok(engine.outcome(token)?)
    }

    /// The error for a commit with this token.
    pub(crate) fn undecided(&self, token: Token, error: Error) -> Error {
        if !self.is_shared() {
            return self.inner.latch(error);
        }
        tracing::warn!(%error, "the outcome of a commit is unknown for now");
        self.inner.undecided.tokens().push(token);
        error
    }

    pub(crate) fn is_undecided(&self) -> bool {
        !self.inner.undecided.tokens().is_empty()
    }

    /// Asks again.
    pub(crate) fn decide(&self) -> Result<()> {
        let undecided = &self.inner.undecided;
        loop {
            let Some(token) = undecided.tokens().last().copied() else { return Ok(()) };
            self.parts().engine.outcome(&token)?;
            undecided.tokens().retain(|other| *other != token);
        }
    }
}
