//! Hashing beside the work of moving the bytes: a [`Hasher`] that takes each
//! run of bytes on a blocking thread, so that digests cost no time of their own
//! while the disk or the network is the slower one.

use bytes::Bytes;
use tokio::task::{JoinError, JoinHandle, spawn, spawn_blocking};

use crate::{Digests, Hasher, Sha256State};

/// A hasher with at most one run of bytes in work. It fails only when the
/// runtime goes down; a call that is dropped while it waits changes nothing.
#[derive(Debug)]
pub(crate) struct Hashing(JoinHandle<Hasher>);

impl Hashing {
    pub(crate) fn new(hasher: Hasher) -> Self {
        Self(spawn(async { hasher }))
    }

    /// Waits for the run before, then starts on this one.
    pub(crate) async fn update(&mut self, run: Vec<Bytes>) -> Result<(), JoinError> {
        let mut hasher = (&mut self.0).await?;
        self.0 = spawn_blocking(move || {
            run.iter().for_each(|bytes| hasher.update(bytes));
            hasher
        });
        Ok(())
    }

    /// The digests of all runs, and where the SHA-256 stands; nothing can be done with it afterwards.
    pub(crate) async fn finish(&mut self) -> Result<(Digests, Sha256State), JoinError> {
        let hasher = (&mut self.0).await?;
        let state = hasher.state();
        Ok((hasher.finish(), state))
    }
}
