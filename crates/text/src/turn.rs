//! One at a time makes the index go further; the others wait for as long as their callers have patience.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Something that one thread at a time changes.
#[derive(Debug)]
pub(crate) struct Turns<T> {
    /// None while somebody has it.
    free: Mutex<Option<T>>,
    given_back: Condvar,
}

/// The turn of one thread; it ends when this is dropped.
pub(crate) struct Turn<'a, T> {
    turns: &'a Turns<T>,
    /// None only while it is dropped.
    held: Option<T>,
}

/// How often a waiting thread asks whether its caller has patience.
const LOOK: Duration = Duration::from_millis(50);

impl<T> Turns<T> {
    pub(crate) fn new(held: T) -> Self {
        Self { free: Mutex::new(Some(held)), given_back: Condvar::new() }
    }

    /// Waits for the turn; none if patience ends before.
    pub(crate) fn take(&self, is_patient: &dyn Fn() -> bool) -> Option<Turn<'_, T>> {
        let mut free = self.lock();
        loop {
            if let Some(held) = free.take() {
                return Some(Turn { turns: self, held: Some(held) });
            }
            if !is_patient() {
                return None;
            }
            let waited = self.given_back.wait_timeout(free, LOOK);
            free = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<T>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Turn<'_, T> {
    pub(crate) fn get(&mut self) -> &mut T {
        self.held.as_mut().expect("it is taken only when this is dropped")
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        *self.turns.lock() = self.held.take();
        self.turns.given_back.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time_has_the_turn() {
        let turns = Turns::new(0_u64);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..250 {
                        *turns.take(&|| true).unwrap().get() += 1;
                    }
                });
            }
        });
        assert_eq!(*turns.take(&|| true).unwrap().get(), 1_000);
    }

    #[test]
    fn who_has_no_patience_gets_no_turn_while_another_has_it() {
        let turns = Turns::new(());
        let first = turns.take(&|| false);
        assert!(first.is_some() && turns.take(&|| false).is_none());
        drop(first);
        assert!(turns.take(&|| false).is_some());
    }
}
