//! Group commit, for the engines that write batches together: the first caller to arrive leads, the others wait.
//!
//! Invariants: the leader writes its own batch together with those that are waiting, and hands
//! the lead to the first that arrived in the meantime. A lone writer thus never changes threads,
//! and no more than one caller writes at any time. Every caller gets an answer, also if its leader falls.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Batch, CommitError, Error, Evidence, Version};

/// The answer to a commit.
pub(crate) type Answer = Result<Version, CommitError>;

/// Batches beyond this size, in bytes, are left to the next group: it bounds how long the first of
/// a group waits.
const GROUP: usize = 16 << 20;

/// So do batches beyond this number, since each takes its time to be checked.
const BATCHES: usize = 256;

/// The waiting batches.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    line: Mutex<Line>,
}

#[derive(Debug, Default)]
struct Line {
    waiting: VecDeque<Pending>,
    led: bool,
}

/// A batch whose caller waits. Dropped without an answer, it answers "unknown".
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) batch: Batch,
    pub(crate) caller: Caller,
}

impl Pending {
    /// What it brings along, in bytes.
    fn size(&self) -> usize {
        self.batch.size() + self.batch.evidence.iter().map(Evidence::size).sum::<usize>()
    }
}

/// The thread that waits for an answer.
#[derive(Debug)]
pub(crate) struct Caller(Sender<Turn>);

#[derive(Debug)]
enum Turn {
    Lead,
    Done(Answer),
}

impl Caller {
    pub(crate) fn answer(self, answer: Answer) {
        self.send(Turn::Done(answer));
    }

    fn send(&self, turn: Turn) {
        // The other end is the stack of the waiting call; it is gone only if that call panicked.
        let _ = self.0.send(turn);
    }
}

impl Queue {
    /// Waits until `write` has answered `batch`, and calls it with a group when it is
    /// this caller's turn to lead.
    pub(crate) fn commit(&self, batch: Batch, write: impl Fn(Vec<Pending>)) -> Answer {
        let (sender, turns) = mpsc::channel();
        self.join(Pending { batch, caller: Caller(sender) });
        loop {
            match turns.recv() {
                Ok(Turn::Lead) => self.lead(&write),
                Ok(Turn::Done(answer)) => return answer,
                Err(_) => return Err(CommitError::Unknown(Error::Undecided)),
            }
        }
    }

    fn join(&self, pending: Pending) {
        let mut line = self.line();
        if !line.led {
            line.led = true;
            pending.caller.send(Turn::Lead);
        }
        line.waiting.push_back(pending);
    }

    fn lead(&self, write: impl Fn(Vec<Pending>)) {
        let _lead = Lead(self);
        write(self.group());
    }

    /// The batches that waited longest; at least one.
    fn group(&self) -> Vec<Pending> {
        let mut line = self.line();
        let mut size = 0;
        let fitting = line.waiting.iter().take_while(|pending| {
            size += pending.size();
            size <= GROUP
        });
        let count = fitting.take(BATCHES).count().max(1).min(line.waiting.len());
        line.waiting.drain(..count).collect()
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lead, handed on when it is dropped, also by a panic.
struct Lead<'a>(&'a Queue);

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        let mut line = self.0.line();
        match line.waiting.front() {
            Some(next) => next.caller.send(Turn::Lead),
            None => line.led = false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Barrier, mpsc};
    use std::thread;

    use super::*;

    fn batch(size: usize) -> Batch {
        let mut batch = Batch::default();
        batch.put("k", vec![0; size]);
        batch
    }

    fn acknowledge(group: Vec<Pending>) {
        let size = group.len() as Version;
        group.into_iter().for_each(|pending| pending.caller.answer(Ok(size)));
    }

    /// Holds the lead until `others` batches wait, then calls `write` with them.
    fn while_led(
        queue: &Queue,
        others: usize,
        sizes: usize,
        write: fn(Vec<Pending>),
    ) -> Vec<Answer> {
        let leading = Barrier::new(2);
        let (release, released) = mpsc::channel();
        thread::scope(|scope| {
            let first = scope.spawn(|| {
                let released = std::sync::Mutex::new(released);
                queue.commit(batch(1), |group| {
                    leading.wait();
                    released.lock().unwrap().recv().unwrap();
                    acknowledge(group);
                })
            });
            leading.wait();
            let waiting: Vec<_> =
                (0..others).map(|_| scope.spawn(|| queue.commit(batch(sizes), write))).collect();
            while queue.line().waiting.len() < others {
                thread::yield_now();
            }
            release.send(()).unwrap();
            assert_eq!(first.join().unwrap().unwrap(), 1);
            let unknown = || Err(CommitError::Unknown(Error::Undecided));
            waiting
                .into_iter()
                .map(|waiting| waiting.join().unwrap_or_else(|_| unknown()))
                .collect()
        })
    }

    #[test]
    fn waiting_commits_are_written_together() {
        for answer in while_led(&Queue::default(), 5, 1, acknowledge) {
            assert_eq!(answer.unwrap(), 5);
        }
    }

    #[test]
    fn a_group_is_bounded_but_takes_one_batch_of_any_size() {
        for (size, expected) in [(GROUP / 3, 2), (2 * GROUP, 1)] {
            let answers = while_led(&Queue::default(), 4, size, acknowledge);
            assert!(answers.into_iter().all(|answer| answer.unwrap() == expected));
        }
    }

    #[test]
    fn a_group_is_bounded_by_the_number_of_batches() {
        let answers = while_led(&Queue::default(), BATCHES + 1, 1, acknowledge);
        let (grouped, left): (Vec<_>, Vec<_>) = answers
            .into_iter()
            .partition(|answer| matches!(answer, Ok(size) if *size == BATCHES as Version));
        assert_eq!((grouped.len(), left.len()), (BATCHES, 1));
    }

    #[test]
    fn evidence_counts_for_the_size_of_a_group() {
        let mut batch = batch(1);
        batch.expect("k", Some(vec![0; GROUP].into()));
        let (sender, _turns) = mpsc::channel();
        assert!(Pending { batch, caller: Caller(sender) }.size() > GROUP);
    }

    #[test]
    fn a_panic_is_reported_as_unknown_and_passes_on_the_lead() {
        let queue = Queue::default();
        let answers = while_led(&queue, 3, 1, |_| panic!("a leader fell"));
        assert!(answers.iter().all(|answer| matches!(answer, Err(CommitError::Unknown(_)))));
        assert_eq!(queue.commit(batch(1), acknowledge).unwrap(), 1);
    }

    #[test]
    fn a_lone_writer_leads_each_time() {
        let queue = Queue::default();
        let led = AtomicU64::new(0);
        for _ in 0..3 {
            let caller = thread::current().id();
            let answer = queue.commit(batch(1), |group| {
                assert_eq!(thread::current().id(), caller);
                led.fetch_add(1, Ordering::Relaxed);
                acknowledge(group);
            });
            answer.unwrap();
        }
        assert_eq!(led.into_inner(), 3);
        let fell = catch_unwind(AssertUnwindSafe(|| queue.commit(batch(1), |_| panic!("alone"))));
        assert!(fell.is_err() && !queue.line().led);
    }
}
