//! Who writes: the first caller to arrive leads, the others wait.
//!
//! The leader writes its own batch together with those that are waiting, and hands
//! the lead to the first that arrived meanwhile. A lone writer thus never changes threads,
//! and no more than one caller writes at any time.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Batch, CommitError, Error, Version};

/// The answer to a commit.
pub(super) type Answer = Result<Version, CommitError>;

/// Batches beyond this size, in bytes, go into the next group: it bounds how long
/// the first of a group waits.
const GROUP: usize = 16 << 20;

/// The waiting batches.
#[derive(Debug, Default)]
pub(super) struct Queue {
    line: Mutex<Line>,
}

#[derive(Debug, Default)]
struct Line {
    waiting: VecDeque<Pending>,
    led: bool,
}

/// A batch whose caller waits. Dropped without an answer, it answers "unknown".
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) batch: Batch,
    pub(super) caller: Caller,
}

/// The thread that waits for an answer.
#[derive(Debug)]
pub(super) struct Caller(Sender<Turn>);

#[derive(Debug)]
enum Turn {
    Lead,
    Done(Answer),
}

impl Caller {
    pub(super) fn answer(self, answer: Answer) {
        self.tell(Turn::Done(answer));
    }

    fn tell(&self, turn: Turn) {
        // The other end is the stack of the waiting call; it is gone only if that call panicked.
        let _ = self.0.send(turn);
    }
}

impl Queue {
    /// Waits until `write` has answered `batch`, and calls it with a group when it is
    /// this caller's turn to lead.
    pub(super) fn commit(&self, batch: Batch, write: impl Fn(Vec<Pending>)) -> Answer {
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
            pending.caller.tell(Turn::Lead);
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
            size += pending.batch.size();
            size <= GROUP
        });
        let count = fitting.count().max(1).min(line.waiting.len());
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
            Some(next) => next.caller.tell(Turn::Lead),
            None => line.led = false,
        }
    }
}
