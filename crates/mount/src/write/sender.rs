//! Sends written data to a stage in the background: adjacent runs of bytes are one request, and a run is sent while the server is still
//! storing the one before.
//!
//! Invariants: two runs are under way only if the second one begins after the end of the first, so bytes that were written twice arrive in
//! order. The bytes of a run are kept until the server has answered, so that they can be sent again if the server becomes unavailable.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use cenote_client::Error;
use futures_util::stream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

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
}

enum Message {
    Write(u64, Bytes),
    /// Everything before has to be at the server.
    Settle(oneshot::Sender<Result<()>>),
}

impl Sender {
    pub(super) fn new(source: Source, stage: String) -> Self {
        let (messages, received) = mpsc::channel(WAITING);
        tokio::spawn(Sending { source, stage, received, before: None, fault: None }.run());
        Self { messages }
    }

    pub(super) async fn write(&self, offset: u64, bytes: Bytes) -> Result<()> {
        self.messages.send(Message::Write(offset, bytes)).await.map_err(|_| gone())
    }

    /// Waits until all that was written is at the server.
    pub(super) async fn settle(&self) -> Result<()> {
        let (done, settled) = oneshot::channel();
        self.messages.send(Message::Settle(done)).await.map_err(|_| gone())?;
        settled.await.map_err(|_| gone())?
    }
}

fn gone() -> Fault {
    Fault::warning(libc::EIO, "writing was abandoned")
}

struct Sending {
    source: Source,
    stage: String,
    received: mpsc::Receiver<Message>,
    /// The run that the server has not answered yet.
    before: Option<Sent>,
    /// The first fault: nothing is sent after it.
    fault: Option<Fault>,
}

/// A run that was sent as a whole.
struct Sent {
    run: Run,
    answer: JoinHandle<Result<u64, Error>>,
}

impl Sending {
    async fn run(mut self) {
        let mut next = self.received.recv().await;
        while let Some(message) = next {
            next = match message {
                Message::Settle(done) => {
                    self.finish().await;
                    // The waiting operation may have been cancelled.
                    let _gone = done.send(self.fault.clone().map_or(Ok(()), Err));
                    self.received.recv().await
                }
                Message::Write(..) if self.fault.is_some() => self.received.recv().await,
                Message::Write(offset, bytes) => self.send_run(offset, bytes).await,
            };
        }
    }

    /// Sends a run; returns the message after it.
    async fn send_run(&mut self, offset: u64, first: Bytes) -> Option<Message> {
        if self.before.as_ref().is_some_and(|before| offset < before.run.end()) {
            self.finish().await;
        }
        let (parts, body) = mpsc::channel::<Bytes>(1);
        let answer = self.request(offset, body);
        let mut run = Run { offset, length: 0, parts: Vec::new() };
        let next = self.feed(parts, &mut run, first).await;
        self.finish().await;
        self.before = Some(Sent { run, answer });
        match next {
            Next::Message(message) => message,
            Next::Later => self.received.recv().await,
        }
    }

    fn request(&self, offset: u64, body: mpsc::Receiver<Bytes>) -> JoinHandle<Result<u64, Error>> {
        let body = stream::unfold(body, |mut body| async move {
            body.recv().await.map(|bytes| (io::Result::Ok(bytes), body))
        });
        let (source, stage) = (self.source.clone(), self.stage.clone());
        tokio::spawn(async move { source.client.write_stage(&stage, offset, body).await })
    }

    /// Waits for the answer to the run before, which is sent again if the server was unavailable.
    async fn finish(&mut self) {
        let Some(Sent { run, answer }) = self.before.take() else { return };
        let answer = match timeout(self.source.deadline(), answer).await {
            Ok(Ok(answer)) => answer.map(drop).map_err(Fault::from),
            Ok(Err(_)) => Err(gone()),
            Err(_) => Err(Fault::late()),
        };
        let answer = match answer {
            Err(fault) if fault.away && self.fault.is_none() => self.send_again(&run).await,
            answer => answer,
        };
        if let Err(fault) = answer.and_then(|()| self.fault.clone().map_or(Ok(()), Err)) {
            self.fault = Some(Fault { level: crate::Level::Warning, ..fault });
        }
    }

    /// Sends a whole run again, to the same place.
    async fn send_again(&self, run: &Run) -> Result<()> {
        let (source, stage) = (&self.source, &self.stage);
        let send = || {
            let parts = stream::iter(run.parts.clone().into_iter().map(io::Result::Ok));
            source.within(source.client.write_stage(stage, run.offset, parts))
        };
        source.insist(send).await.map(drop)
    }

    async fn feed(&mut self, parts: mpsc::Sender<Bytes>, run: &mut Run, first: Bytes) -> Next {
        let mut bytes = first;
        loop {
            run.push(bytes.clone());
            match timeout(self.source.deadline(), parts.send(bytes)).await {
                Ok(Ok(())) if run.length < LONGEST => {}
                // It is long enough, or the request has ended; its response contains the reason.
                Ok(_) => return Next::Later,
                Err(_) => {
                    self.fault = Some(Fault::late());
                    return Next::Later;
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

/// Bytes that follow each other.
struct Run {
    offset: u64,
    length: u64,
    parts: Vec<Bytes>,
}

impl Run {
    fn end(&self) -> u64 {
        self.offset + self.length
    }

    fn push(&mut self, bytes: Bytes) {
        self.length += bytes.len() as u64;
        self.parts.push(bytes);
    }
}

enum Next {
    /// The message after the run; `None` at the end.
    Message(Option<Message>),
    /// None has arrived yet.
    Later,
}
