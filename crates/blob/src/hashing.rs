//! Hashing beside the work of moving the bytes, on a blocking thread, so that
//! digests cost no time of their own while the disk or the network is the slower
//! one, and keep nobody else waiting.

use bytes::Bytes;
use tokio::task::{JoinError, JoinHandle, spawn, spawn_blocking};

/// What takes bytes in order, with at most one run of them in work. It fails only
/// when the runtime goes down; a call that is dropped while it waits changes nothing.
#[derive(Debug)]
pub struct Hashing<T> {
    work: JoinHandle<T>,
    take: fn(&mut T, &[u8]),
}

impl<T: Send + 'static> Hashing<T> {
    /// Begins with this state, of which `take` takes the next bytes.
    pub fn new(state: T, take: fn(&mut T, &[u8])) -> Self {
        Self { work: spawn(async { state }), take }
    }

    /// Waits for the run before, then starts on this one.
    pub async fn update(&mut self, run: Vec<Bytes>) -> Result<(), JoinError> {
        let (mut state, take) = ((&mut self.work).await?, self.take);
        self.work = spawn_blocking(move || {
            run.iter().for_each(|bytes| take(&mut state, bytes));
            state
        });
        Ok(())
    }

    /// The state after all runs; nothing can be done with it afterwards.
    pub async fn finish(&mut self) -> Result<T, JoinError> {
        (&mut self.work).await
    }
}
