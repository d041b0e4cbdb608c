//! Whether the server responds, so that operations do not wait for one that is known to be away.
//!
//! Invariants: once the server was away for as long as operations wait for it, they fail at once, and one request at a time finds out whether
//! it is back; an operation waits for that request only while it is new. Any answer of the server ends this.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::error::{Fault, Result};

/// How old a probe is at most that operations wait for.
const GRACE: Duration = Duration::from_secs(1);

/// What is known of the server. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Reach {
    /// For how long operations wait for a server that is away.
    patience: Duration,
    grace: Duration,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// When the server answered last.
    heard: Option<Instant>,
    /// Since when it is away.
    away: Option<Instant>,
    probe: Option<Probe>,
}

/// A request that finds out whether the server is back.
#[derive(Debug, Clone)]
struct Probe {
    begun: Instant,
    /// Closed once it has ended.
    ended: watch::Receiver<()>,
}

impl Reach {
    pub(crate) fn new(patience: Duration) -> Self {
        Self { patience, grace: GRACE, state: Arc::default() }
    }

    /// For how long operations still wait for the server.
    pub(crate) fn patience(&self) -> Duration {
        let away = self.state().away.map(|since| since.elapsed());
        self.patience.saturating_sub(away.unwrap_or_default())
    }

    /// Whether the server is there, or has not been away for too long.
    fn is_patient(&self) -> bool {
        self.state().away.is_none_or(|since| since.elapsed() < self.patience)
    }

    /// Refuses an operation while the server is away for longer than that. `probe` tells whether it is back.
    pub(crate) async fn admit<F>(&self, probe: impl FnOnce() -> F) -> Result<()>
    where
        F: Future<Output = bool> + Send + 'static,
    {
        if self.is_patient() {
            return Ok(());
        }
        let Probe { begun, mut ended } = self.probe(probe);
        let left = (begun + self.grace).saturating_duration_since(Instant::now());
        // That the sender is gone is what ends it.
        let _ended = timeout(left, ended.changed()).await;
        if self.is_patient() { Ok(()) } else { Err(Fault::gone()) }
    }

    /// The probe that is under way, or a new one.
    fn probe<F>(&self, probe: impl FnOnce() -> F) -> Probe
    where
        F: Future<Output = bool> + Send + 'static,
    {
        let mut state = self.state();
        if let Some(probe) = state.probe.as_ref().filter(|probe| probe.ended.has_changed().is_ok())
        {
            return probe.clone();
        }
        let (ends, ended) = watch::channel(());
        let (reach, answer) = (self.clone(), probe());
        tokio::spawn(async move {
            if answer.await {
                reach.heard();
            }
            drop(ends);
        });
        state.probe.insert(Probe { begun: Instant::now(), ended }).clone()
    }

    /// The server has answered.
    pub(crate) fn heard(&self) {
        let mut state = self.state();
        (state.heard, state.away) = (Some(Instant::now()), None);
    }

    /// The server could not be reached.
    pub(crate) fn failed(&self) {
        self.state().away.get_or_insert_with(Instant::now);
    }

    /// A request that began at this time was not answered before the deadline. The server is away if it has not answered anything else either.
    pub(crate) fn missed(&self, begun: Instant) {
        let mut state = self.state();
        if state.heard.is_none_or(|heard| heard < begun) {
            state.away.get_or_insert(begun);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Operations that wait for a probe as long as this, and not for a server that is away.
    fn impatient(grace: Duration) -> Reach {
        Reach { grace, ..Reach::new(Duration::ZERO) }
    }

    #[tokio::test]
    async fn a_server_that_hangs_is_queried_by_one_operation_of_many() {
        let (reach, probes) = (impatient(Duration::from_millis(1)), AtomicU32::new(0));
        reach.missed(Instant::now());
        for _ in 0..20 {
            let probe = || {
                probes.fetch_add(1, Ordering::Relaxed);
                pending::<bool>()
            };
            assert!(reach.admit(probe).await.unwrap_err().is_gone());
        }
        assert_eq!(probes.load(Ordering::Relaxed), 1);
        reach.heard();
        assert!(reach.admit(pending::<bool>).await.is_ok());
    }

    #[tokio::test]
    async fn a_server_that_is_back_is_used_at_once() {
        let reach = impatient(Duration::from_secs(60));
        reach.failed();
        assert!(reach.admit(|| ready(false)).await.is_err());
        assert!(reach.admit(|| ready(true)).await.is_ok());
        assert!(reach.admit(pending::<bool>).await.is_ok());
    }

    #[tokio::test]
    async fn a_server_is_waited_for_at_first() {
        let reach = Reach::new(Duration::from_secs(3600));
        reach.failed();
        assert!(reach.admit(pending::<bool>).await.is_ok());
        assert!(reach.patience() > Duration::ZERO);
    }

    #[tokio::test]
    async fn a_slow_answer_does_not_make_a_server_away_that_gives_others() {
        let (reach, begun) = (impatient(Duration::ZERO), Instant::now());
        reach.heard();
        reach.missed(begun);
        assert!(reach.admit(pending::<bool>).await.is_ok());
    }
}
