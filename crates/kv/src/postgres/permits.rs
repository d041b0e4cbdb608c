//! How many connections reads may use at a time.
//!
//! Invariants: a thread that waits holds none, so every wait ends; one that holds some gets another one at once, or an error. Threads
//! that hold none get at most half of all, so that the others find some.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::{Error, Result};

/// What is taken, and by whom.
#[derive(Debug)]
pub(super) struct Permits {
    most: usize,
    patience: Duration,
    taken: Mutex<Taken>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct Taken {
    first: usize,
    further: usize,
}

/// How many permits a thread has taken that still exist, wherever they are by now.
#[derive(Debug, Clone, Default)]
pub(super) struct Holder(Arc<AtomicUsize>);

thread_local! {
    static HOLDER: Holder = Holder::default();
}

impl Holder {
    /// This thread.
    pub(super) fn here() -> Self {
        HOLDER.with(Self::clone)
    }
}

/// The right to use a connection, until it is dropped.
#[derive(Debug)]
pub(super) struct Permit {
    permits: Arc<Permits>,
    holder: Holder,
    is_first: bool,
}

impl Permits {
    /// At most `most`, and no fewer than two. A thread waits for its first one no longer than `patience`.
    pub(super) fn new(most: usize, patience: Duration) -> Self {
        let (taken, freed) = (Mutex::default(), Condvar::new());
        Self { most: most.max(2), patience, taken, freed }
    }

    /// One for `holder`.
    ///
    /// # Errors
    /// If none was free in time.
    pub(super) fn take(self: &Arc<Self>, holder: Holder) -> Result<Permit> {
        let is_first = holder.0.load(Ordering::Relaxed) == 0;
        let mut taken = self.taken();
        if is_first {
            let is_full = |taken: &mut Taken| !self.has_first(taken);
            let waited = self.freed.wait_timeout_while(taken, self.patience, is_full);
            taken = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let is_free = if is_first { self.has_first(&taken) } else { taken.all() < self.most };
        if !is_free {
            return Err(self.exhausted(is_first));
        }
        *taken.of(is_first) += 1;
        holder.0.fetch_add(1, Ordering::Relaxed);
        Ok(Permit { permits: self.clone(), holder, is_first })
    }

    fn has_first(&self, taken: &Taken) -> bool {
        taken.first < self.most / 2 && taken.all() < self.most
    }

    fn exhausted(&self, is_first: bool) -> Error {
        let most = self.most;
        let waited = match is_first {
            true => format!(" for {} s", self.patience.as_secs()),
            false => String::new(),
        };
        Error::Io(
            format!("all connections to the database are in use{waited} (pool_max_conns={most})")
                .into(),
        )
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn all(&self) -> usize {
        self.first + self.further
    }

    fn of(&mut self, is_first: bool) -> &mut usize {
        if is_first { &mut self.first } else { &mut self.further }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        *self.permits.taken().of(self.is_first) -= 1;
        self.holder.0.fetch_sub(1, Ordering::Relaxed);
        self.permits.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permits(most: usize) -> Arc<Permits> {
        Arc::new(Permits::new(most, Duration::ZERO))
    }

    #[test]
    fn those_who_hold_none_leave_half_to_those_who_hold_one() {
        let permits = permits(4);
        let [one, other, third] = [(); 3].map(|()| Holder::default());
        let held = [&one, &other].map(|holder| permits.take(holder.clone()).unwrap());
        assert!(permits.take(third.clone()).is_err(), "it would have to wait");
        let further = [&one, &other].map(|holder| permits.take(holder.clone()).unwrap());
        let refused = permits.take(one.clone()).unwrap_err().to_string();
        assert!(refused.contains("pool_max_conns=4"), "{refused}");
        drop(further);
        drop(held);
        assert!(permits.take(third).is_ok());
    }

    #[test]
    fn who_waits_goes_on_once_somebody_is_done() {
        let permits = Arc::new(Permits::new(2, Duration::from_secs(60)));
        let held = permits.take(Holder::here()).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| drop(permits.take(Holder::here()).unwrap()));
            drop(held);
            waiting.join().unwrap();
        });
    }

    #[test]
    fn a_permit_that_ends_on_another_thread_is_no_longer_held_here() {
        let permits = permits(2);
        let held = permits.take(Holder::here()).unwrap();
        std::thread::scope(|scope| drop(scope.spawn(move || drop(held)).join()));
        let first = permits.take(Holder::here()).unwrap();
        assert!(first.is_first);
    }
}
