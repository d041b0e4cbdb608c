//! Where changes of the same thing wait for each other after they have met too often.
//!
//! Changes do not lock what they read: they are tried, and retried if another one came first. With many at
//! once on one resource some would lose each time. So one that has lost some times joins the line of the key at which
//! it lost, and continues when those before it have finished. Transactions that never lost do not wait.
//!
//! Invariant: no transaction waits in a queue while it is at the head of another, so no two wait for each other. The one exception
//! is the line of the next id, which those join that take a block of ids within a change; they wait for nothing else.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

/// The queues by key.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    lines: Mutex<HashMap<Bytes, Line>>,
    moved: Condvar,
}

/// First come, first served.
#[derive(Debug, Default)]
struct Line {
    served: u64,
    last: u64,
}

/// The head of a line, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    lines: &'a Lines,
    key: Bytes,
}

impl Lines {
    /// Waits until all predecessors have left the queue of `key`. Blocks the thread.
    pub(crate) fn join(&self, key: Bytes) -> Turn<'_> {
        let mut lines = self.lock();
        let line = lines.entry(key.clone()).or_default();
        line.last += 1;
        let mine = line.last;
        while lines.get(&key).is_some_and(|line| line.served + 1 < mine) {
            lines = self.moved.wait(lines).unwrap_or_else(PoisonError::into_inner);
        }
        Turn { lines: self, key }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Bytes, Line>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// Whether it is the line of this key.
    pub(crate) fn is_of(&self, key: &Bytes) -> bool {
        self.key == *key
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut lines = self.lines.lock();
        if let Some(line) = lines.get_mut(&self.key) {
            line.served += 1;
            if line.served == line.last {
                lines.remove(&self.key);
            }
        }
        self.lines.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn one_waiter_at_a_time_is_at_the_head_and_queues_are_independent() {
        let (lines, inside) = (Lines::default(), AtomicUsize::new(0));
        let other = lines.join(Bytes::from_static(b"other"));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let turn = lines.join(Bytes::from_static(b"key"));
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(turn);
                    }
                });
            }
        });
        drop(other);
        assert!(lines.lock().is_empty());
    }

    #[test]
    fn waiters_are_served_in_order() {
        let (lines, order) = (Lines::default(), Mutex::new(Vec::new()));
        let key = || Bytes::from_static(b"key");
        let first = lines.join(key());
        thread::scope(|scope| {
            for n in 0..4u64 {
                let (lines, order) = (&lines, &order);
                scope.spawn(move || {
                    let _turn = lines.join(key());
                    order.lock().unwrap().push(n);
                });
                while lines.lock()[&key()].last < n + 2 {
                    thread::yield_now();
                }
            }
            drop(first);
        });
        assert_eq!(order.into_inner().unwrap(), [0, 1, 2, 3]);
    }
}
