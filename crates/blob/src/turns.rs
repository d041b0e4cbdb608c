//! Turns at work that blocks a thread: no more of it runs at a time than keeps the machine's cores busy.
//!
//! A thread for each run of bytes of each upload would not be faster, and each thread keeps memory that it once used.
//! Hashing and each local place have turns of their own, so that a disk that hangs holds up nobody but its users.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Turns for each core. A writer may hold one for its next run of bytes while the one before is being worked on, so
/// that with two every core has work.
const EACH_CORE: usize = 2;

/// Turns at one kind of work. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Turns(Arc<Semaphore>);

impl Default for Turns {
    fn default() -> Self {
        let cores = available_parallelism().map_or(1, NonZeroUsize::get);
        Self(Arc::new(Semaphore::new(EACH_CORE * cores)))
    }
}

impl Turns {
    /// Waits for a turn, which ends when it is dropped. Whoever has one waits for no other.
    pub(crate) async fn turn(&self) -> OwnedSemaphorePermit {
        Arc::clone(&self.0).acquire_owned().await.expect("it is never closed")
    }
}
