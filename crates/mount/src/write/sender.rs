//! Sends written data to a stage in the background: adjacent runs of bytes are one request, and a run is sent while the server is still
//! storing the one before.
//!
//! Invariants: two runs are under way only if the second one begins after the end of the first, so bytes that were written twice arrive in
//! order. The bytes of a run are kept until the server has answered that it has them. If it has not, all that was written since is kept as well, and sent
//! again, in order, by the next operation, as another attempt; until that has succeeded nothing more is taken. So what was taken is bounded, and never lost while the
//! file is open.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use cenote_client::Patch;
use futures_util::stream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::attempts::Attempts;
use super::run::Run;
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
    /// Whether something could not be sent.
    failed: Arc<AtomicBool>,
}

#[derive(Debug)]
enum Message {
    Write(u64, Bytes),
    /// Everything before has to be at the server.
    Settle(oneshot::Sender<Result<()>>),
}

impl Sender {
    pub(super) fn new(source: Source, attempts: Arc<Attempts>) -> Self {
        let (messages, received) = mpsc::channel(WAITING);
        let failed = Arc::<AtomicBool>::default();
        let (before, unsent) = (None, VecDeque::new());
        let sending =
            Sending { source, attempts, received, before, unsent, failed: Arc::clone(&failed) };
        tokio::spawn(sending.run());
        Self { messages, failed }
    }

    /// Takes bytes. If what was taken before could not be sent, and still cannot, these are refused.
    pub(super) async fn write(&self, offset: u64, bytes: Bytes) -> Result<()> {
        if self.failed.load(Ordering::Acquire) {
            self.settle().await?;
        }
        self.messages.send(Message::Write(offset, bytes)).await.map_err(|_| ended())
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
    /// The run that the server has not answered yet.
    before: Option<Sent>,
    /// What could not be sent, and what was written after it, with the offsets.
    unsent: VecDeque<(u64, Bytes)>,
    /// Whether there is any of that.
    failed: Arc<AtomicBool>,
}

/// A run that was sent as a whole.
struct Sent {
    run: Run,
    answer: JoinHandle<Result<()>>,
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
                Message::Write(offset, bytes) => self.write(offset, bytes).await,
            };
        }
    }

    /// Sends all that has not been sent; what cannot be is kept.
    async fn settle(&mut self) -> Result<()> {
        self.finish().await;
        while let Some((offset, bytes)) = self.unsent.front() {
            let write = &Patch::Write(*offset, bytes.clone());
            let (source, attempts) = (&self.source, &self.attempts);
            let send = async || {
                let stage = attempts.next();
                let sent = source.client.patch_stage(stage.attempt(), write);
                let outcome = source.within(sent).await;
                attempts.note(&outcome);
                outcome
            };
            source.insist(send).await?;
            self.unsent.pop_front();
        }
        self.failed.store(false, Ordering::Release);
        Ok(())
    }

    /// Sends bytes, or keeps them if something before them could not be sent; returns the message after them.
    async fn write(&mut self, offset: u64, bytes: Bytes) -> Option<Message> {
        let overlaps = self.before.as_ref().is_some_and(|before| offset < before.run.end());
        if overlaps || !self.unsent.is_empty() {
            self.finish().await;
        }
        if self.unsent.is_empty() && self.source.admit().await.is_ok() {
            return self.send_run(offset, bytes).await;
        }
        self.keep([(offset, bytes)]);
        self.received.recv().await
    }

    /// Sends a run; returns the message after it.
    async fn send_run(&mut self, offset: u64, first: Bytes) -> Option<Message> {
        let (parts, body) = mpsc::channel::<Bytes>(1);
        let answer = self.request(offset, body);
        let mut run = Run::at(offset);
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

    /// Waits for the answer to the run before. Whatever went wrong, it is sent again by the next operation, which reports what goes wrong then.
    async fn finish(&mut self) {
        let Some(Sent { run, mut answer }) = self.before.take() else { return };
        let begun = Instant::now();
        let answered = timeout(self.source.deadline(), &mut answer).await;
        if answered.is_err() {
            answer.abort();
            self.source.reach.missed(begun);
        }
        if !matches!(answered, Ok(Ok(Ok(())))) {
            self.attempts.give_up();
            self.keep(run.parts());
        }
    }

    fn keep(&mut self, parts: impl IntoIterator<Item = (u64, Bytes)>) {
        self.unsent.extend(parts);
        self.failed.store(true, Ordering::Release);
    }

    async fn feed(&mut self, parts: mpsc::Sender<Bytes>, run: &mut Run, first: Bytes) -> Next {
        let mut bytes = first;
        loop {
            run.push(bytes.clone());
            let begun = Instant::now();
            match timeout(self.source.deadline(), parts.send(bytes)).await {
                Ok(Ok(())) if run.length() < LONGEST => {}
                // It is long enough, or the request has ended; its response contains the reason.
                Ok(_) => return Next::Later,
                Err(_) => {
                    self.source.reach.missed(begun);
                    return Next::Stalled;
                }
            }
            match timeout(PAUSE, self.received.recv()).await {
                Ok(Some(Message::Write(offset, more))) if offset == run.end() => {
                    bytes = more;
                }
                Ok(other) => return Next::Message(other),
                Err(_) => return Next::Later,
            }
        }
    }
}

enum Next {
    /// The message after the run; `None` at the end.
    Message(Option<Message>),
    /// None has arrived yet.
    Later,
    /// The server takes nothing.
    Stalled,
}
