//! Rows that arrive over time: pages of a listing, the lines of a walk, changes as they happen.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use cenote_client::Error;
use futures_util::future::BoxFuture;
use futures_util::{Stream, StreamExt};
use pyo3::prelude::*;
use serde::Serialize;
use tokio::sync::{Mutex, mpsc};

use super::answer::Answer;
use super::pending::Pending;

/// How many rows are handed to Python at once.
const ROWS: usize = 1_000;

type Chunk = Vec<Result<Answer, Error>>;
type Start = Box<dyn FnOnce(mpsc::Sender<Chunk>) -> BoxFuture<'static, ()> + Send>;

/// An iterator's source.
#[pyclass(module = "cenote._cenote.store", frozen)]
pub(super) struct Rows(Arc<Mutex<State>>);

enum State {
    Fresh(Start),
    Running(mpsc::Receiver<Chunk>),
    /// It ends with this error, after the rows before it.
    Failed(Option<Error>),
}

impl Rows {
    /// The rows that a task sends. It is started by the first request for rows, and ends when they are dropped.
    pub(super) fn new<F>(task: impl FnOnce(mpsc::Sender<Chunk>) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let start: Start = Box::new(|sender| Box::pin(task(sender)));
        Self(Arc::new(Mutex::new(State::Fresh(start))))
    }
}

/// Sends all rows of a stream, as they arrive.
pub(super) async fn send<T: Serialize>(
    rows: impl Stream<Item = Result<T, Error>>,
    to: mpsc::Sender<Chunk>,
) {
    let mut chunks = pin!(rows.ready_chunks(ROWS));
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.into_iter().map(|row| row.map(|row| Answer::of(&row))).collect();
        if to.send(chunk).await.is_err() {
            return;
        }
    }
}

/// Sends why there are no rows.
pub(super) async fn send_error(error: Error, to: mpsc::Sender<Chunk>) {
    // If the receiver is gone, so is the reader of the error.
    let _ = to.send(vec![Err(error)]).await;
}

#[pymethods]
impl Rows {
    /// The next rows, at least one; none at the end.
    fn next(&self) -> Pending {
        let state = Arc::clone(&self.0);
        Pending::new(async move { state.lock().await.next().await })
    }
}

impl State {
    async fn next(&mut self) -> Result<Answer, Error> {
        if let Self::Failed(error) = self {
            return error.take().map_or(Ok(Answer::List(Vec::new())), Err);
        }
        let mut rows = Vec::new();
        for row in self.receive().await {
            match row {
                Ok(row) => rows.push(row),
                Err(error) => *self = Self::Failed(Some(error)),
            }
        }
        match self {
            Self::Failed(error) if rows.is_empty() => {
                error.take().map_or(Ok(Answer::List(Vec::new())), Err)
            }
            _ => Ok(Answer::List(rows)),
        }
    }

    async fn receive(&mut self) -> Chunk {
        if let Self::Fresh(_) = self {
            let (sender, receiver) = mpsc::channel(2);
            if let Self::Fresh(start) = std::mem::replace(self, Self::Running(receiver)) {
                tokio::spawn(start(sender));
            }
        }
        match self {
            Self::Running(receiver) => receiver.recv().await.unwrap_or_default(),
            _ => Vec::new(),
        }
    }
}
