//! Sends written data to a stage in the background: bytes that follow each other are one request while they are written, and several runs are one request. A
//! request is sent while the server is still storing the one before.
//!
//! Invariants: two requests are under way only if what the second one writes begins after the end of the first, so bytes that were written twice arrive in
//! order. All that is written is kept until the server has answered that it has it. If it has not, all that was written since is kept as well, and sent
//! again, in order, by the next operation, as another attempt; until that has succeeded nothing more is taken. So what was taken is bounded, and never lost while the
//! file is open.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use cenote_client::{Error, Kind, Patch};
use futures_util::stream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::attempts::{Attempts, Numbered};
use super::kept::{Kept, Written};
use crate::error::{Fault, Result};
use crate::source::Source;

/// After this time without more bytes a request is completed, before the server considers it stalled.
const PAUSE: Duration = Duration::from_secs(2);
/// How many writes may wait to be sent.
const WAITING: usize = 4;
/// The longest run: the bytes of two of them may be in memory. The store does not copy a write of this length again when it folds many.
const LONGEST: u64 = 16 << 20;

/// Writes to one stage.
#[derive(Debug)]
pub(super) struct Sender {
    messages: mpsc::Sender<Message>,
    kept: Arc<Kept>,
    /// Whether something could not be sent.
    failed: Arc<AtomicBool>,
}

#[derive(Debug)]
enum Message {
    Write(Written),
    /// Everything before has to be at the server.
    Settle(oneshot::Sender<Result<()>>),
}

impl Sender {
    pub(super) fn new(source: Source, attempts: Arc<Attempts>, kept: Arc<Kept>) -> Self {
        let (messages, received) = mpsc::channel(WAITING);
        let failed = Arc::<AtomicBool>::default();
        let sending = Sending {
            source,
            attempts,
            received,
            before: None,
            kept: Arc::clone(&kept),
            unsent: 0,
            failed: Arc::clone(&failed),
        };
        tokio::spawn(sending.run());
        Self { messages, kept, failed }
    }

    /// Takes bytes. If what was taken before could not be sent, and still cannot, these are refused.
    pub(super) async fn write(&self, written: Written) -> Result<()> {
        if self.failed.load(Ordering::Acquire) {
            self.settle().await?;
        }
        let turn = self.messages.reserve().await.map_err(|_| ended())?;
        self.kept.push(written.clone());
        turn.send(Message::Write(written));
        Ok(())
    }

    /// Waits until all that was written is at the server.
    pub(super) async fn settle(&self) -> Result<()> {
        let (done, settled) = oneshot::channel();
        self.messages.send(Message::Settle(done)).await.map_err(|_| ended())?;
        settled.await.map_err(|_| ended())?
    }
}

fn ended() -> Fault {
    Fault::warning(libc::EIO, "writing was abandoned")
}

struct Sending {
    source: Source,
    attempts: Arc<Attempts>,
    received: mpsc::Receiver<Message>,
    /// What the server has not answered yet.
    before: Option<Sent>,
    kept: Arc<Kept>,
    /// How many of those that are kept could not be sent, or came after one that could not be.
    unsent: usize,
    /// Whether there are any.
    failed: Arc<AtomicBool>,
}

/// A request that was sent as a whole.
struct Sent {
    run: Run,
    answer: JoinHandle<Result<()>>,
}

/// What one request writes.
struct Run {
    /// How much of what is kept it consists of.
    count: usize,
    start: u64,
    end: u64,
}

impl Run {
    fn of(written: &Written) -> Self {
        Self { count: 1, start: written.start(), end: written.end() }
    }

    fn push(&mut self, bytes: &Bytes) {
        self.count += 1;
        self.end += bytes.len() as u64;
    }
}

impl Sending {
    async fn run(mut self) {
        let mut next = self.received.recv().await;
        while let Some(message) = next {
            next = match message {
                Message::Settle(done) => {
                    // The waiting operation may have been cancelled.
                    let _gone = done.send(self.settle().await);
                    self.received.recv().await
                }
                Message::Write(written) => self.write(written).await,
            };
        }
    }

    /// Sends all that has not been sent; what cannot be is kept.
    async fn settle(&mut self) -> Result<()> {
        self.finish().await;
        while let Some(written) = self.kept.first().filter(|_| self.unsent > 0) {
            let source = &self.source;
            source.insist(|| self.send_again(&written)).await?;
            self.kept.arrived(1);
            self.unsent -= 1;
        }
        self.failed.store(false, Ordering::Release);
        Ok(())
    }

    async fn send_again(&self, written: &Written) -> Result<()> {
        let stage = self.attempts.next();
        let outcome = self.source.within(put(&self.source, &stage, written)).await;
        self.attempts.note(&outcome);
        outcome
    }

    /// Sends bytes, or keeps them if something before them could not be sent; returns the message after them.
    async fn write(&mut self, written: Written) -> Option<Message> {
        let overlaps = self.before.as_ref().is_some_and(|before| written.start() < before.run.end);
        if overlaps || self.unsent > 0 {
            self.finish().await;
        }
        if self.unsent > 0 || self.source.admit().await.is_err() {
            self.finish().await;
            self.keep(1);
            return self.received.recv().await;
        }
        match written.parts() {
            [(offset, bytes)] => self.send_run(*offset, bytes.clone()).await,
            _ => self.send_ranges(written).await,
        }
    }

    /// Sends a run; returns the message after it.
    async fn send_run(&mut self, offset: u64, first: Bytes) -> Option<Message> {
        let (parts, body) = mpsc::channel::<Bytes>(1);
        let answer = self.request(offset, body);
        let mut run = Run { count: 0, start: offset, end: offset };
        let next = self.feed(parts, &mut run, first).await;
        if let Next::Stalled = next {
            answer.abort();
        }
        self.finish().await;
        self.before = Some(Sent { run, answer });
        match next {
            Next::Message(message) => message,
            Next::Later | Next::Stalled => self.received.recv().await,
        }
    }

    /// Sends several runs; returns the message after them.
    async fn send_ranges(&mut self, written: Written) -> Option<Message> {
        let (run, source, stage) = (Run::of(&written), self.source.clone(), self.attempts.next());
        let answer =
            tokio::spawn(async move { source.noted(put(&source, &stage, &written).await) });
        self.finish().await;
        self.before = Some(Sent { run, answer });
        self.received.recv().await
    }

    fn request(&self, offset: u64, body: mpsc::Receiver<Bytes>) -> JoinHandle<Result<()>> {
        let body = stream::unfold(body, |mut body| async move {
            body.recv().await.map(|bytes| (io::Result::Ok(bytes), body))
        });
        let (source, stage) = (self.source.clone(), self.attempts.next());
        tokio::spawn(async move {
            let sent = source.client.write_stage(stage.attempt(), offset, body);
            source.noted(sent.await).map(drop)
        })
    }

    /// Waits for the answer to the request before. Whatever went wrong, it is sent again by the next operation, which reports what goes wrong then.
    async fn finish(&mut self) {
        let Some(Sent { run, mut answer }) = self.before.take() else { return };
        let begun = Instant::now();
        let answered = timeout(self.source.deadline(), &mut answer).await;
        if answered.is_err() {
            answer.abort();
            self.source.reach.missed(begun);
        }
        let arrived = matches!(answered, Ok(Ok(Ok(()))));
        if !arrived {
            self.attempts.give_up();
        }
        match arrived && self.unsent == 0 {
            true => self.kept.arrived(run.count),
            // What was sent after something that did not arrive is sent again after that.
            false => self.keep(run.count),
        }
    }

    fn keep(&mut self, count: usize) {
        self.unsent += count;
        self.failed.store(true, Ordering::Release);
    }

    async fn feed(&mut self, parts: mpsc::Sender<Bytes>, run: &mut Run, first: Bytes) -> Next {
        let mut bytes = first;
        loop {
            run.push(&bytes);
            let begun = Instant::now();
            match timeout(self.source.deadline(), parts.send(bytes)).await {
                Ok(Ok(())) if run.end - run.start < LONGEST => {}
                // It is long enough, or the request has ended; its response contains the reason.
                Ok(_) => return Next::Later,
                Err(_) => {
                    self.source.reach.missed(begun);
                    return Next::Stalled;
                }
            }
            match timeout(PAUSE, self.received.recv()).await {
                Ok(Some(Message::Write(written))) => match written.parts() {
                    [(offset, more)] if *offset == run.end => bytes = more.clone(),
                    _ => return Next::Message(Some(Message::Write(written))),
                },
                Ok(other) => return Next::Message(other),
                Err(_) => return Next::Later,
            }
        }
    }
}

/// Writes runs with one request. An older server refuses the parameter that says how many there are, before it takes anything: it gets one request for each.
async fn put(source: &Source, stage: &Numbered, written: &Written) -> Result<(), Error> {
    match source.client.write_stage_ranges(stage.attempt(), written.parts()).await {
        Err(refused) if refused.kind() == Kind::Invalid => {}
        sent => return sent.map(drop),
    }
    for (offset, bytes) in written.parts() {
        let patch = Patch::Write(*offset, bytes.clone());
        source.client.patch_stage(stage.attempt(), &patch).await?;
    }
    Ok(())
}

enum Next {
    /// The message after the run; `None` at the end.
    Message(Option<Message>),
    /// None has arrived yet.
    Later,
    /// The server takes nothing.
    Stalled,
}
