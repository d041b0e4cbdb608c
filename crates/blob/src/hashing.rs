//! Hashing on a blocking thread while the bytes are moved, so that digests take no extra time while the disk or the
//! network is slower, and block nobody else.

use std::sync::LazyLock;

use bytes::Bytes;
use tokio::task::{JoinError, JoinHandle, spawn, spawn_blocking};

use crate::turns::Turns;

static TURNS: LazyLock<Turns> = LazyLock::new(Turns::default);

/// A consumer of bytes in order, with at most one run of them being processed. It fails only when the runtime shuts
/// down; a call that is dropped while it waits changes nothing.
#[derive(Debug)]
pub struct Hashing<T> {
    work: JoinHandle<T>,
    take: fn(&mut T, &[u8]),
}

impl<T: Send + 'static> Hashing<T> {
    /// Starts with this state; `take` adds the next bytes to it.
    pub fn new(state: T, take: fn(&mut T, &[u8])) -> Self {
        Self { work: spawn(async { state }), take }
    }

    /// Waits for the previous run, then starts on this one.
    pub async fn update(&mut self, run: Vec<Bytes>) -> Result<(), JoinError> {
        let turn = TURNS.turn().await;
        let (mut state, take) = ((&mut self.work).await?, self.take);
        self.work = spawn_blocking(move || {
            let _turn = turn;
            run.iter().for_each(|bytes| take(&mut state, bytes));
            state
        });
        Ok(())
    }

    /// The state after all runs; the object cannot be used afterwards.
    pub async fn finish(&mut self) -> Result<T, JoinError> {
        (&mut self.work).await
    }
}
