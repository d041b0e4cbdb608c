//! Files and trees between a local disk and the store: parallel, resumable, verified.
//!
//! Invariants: a file appears under its name only whole and, unless that was declined,
//! verified; an upload is published only after every part has been checked; what was
//! interrupted continues from what has arrived when the same transfer is started again.

mod archive;
mod batches;
mod download;
mod fetch;
mod file;
mod journal;
mod parts;
mod ranges;
mod tree;
mod unpack;
mod upload;
mod verification;

use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

pub use fetch::{Arrival, Wanted};
pub use file::LocalFile;
pub use tree::{Item, Outcome, Source};

use crate::Client;

/// Watches a transfer, from any thread.
pub trait Observer: Debug + Send + Sync {
    /// This many more bytes are on their way or have come.
    fn moved(&self, bytes: u64);
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn moved(&self, _: u64) {}
}

/// How to transfer.
#[derive(Debug, Clone)]
pub struct Options {
    /// Requests under way at a time.
    pub jobs: NonZeroUsize,
    /// Whether what was read is compared with the store's digest. What is put always is.
    pub verify: bool,
    /// Where interrupted uploads are recorded; without it they start from the beginning.
    pub journal: Option<PathBuf>,
    /// Files of at least this size go in parts, in bytes.
    pub parts_from: u64,
    /// The size of a part in bytes.
    pub part_size: NonZeroUsize,
    /// Files of at least this size come in ranges side by side, in bytes. None do by default: one
    /// stream is as fast where the network is not the limit, and is verified while it comes.
    pub ranges_from: Option<u64>,
    /// The size of a range in bytes.
    pub range_size: NonZeroUsize,
    /// The place or group that the bytes of a tree go to, instead of the default one.
    pub place: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            jobs: NonZeroUsize::new(4).expect("four is not zero"),
            verify: true,
            journal: None,
            parts_from: 64 << 20,
            part_size: NonZeroUsize::new(16 << 20).expect("sixteen is not zero"),
            ranges_from: None,
            range_size: NonZeroUsize::new(16 << 20).expect("sixteen is not zero"),
            place: None,
        }
    }
}

/// Transfers for one client. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Transfer {
    client: Client,
    options: Arc<Options>,
    observer: Arc<dyn Observer>,
}

impl Transfer {
    /// Transfers through `client`.
    pub fn new(client: Client, options: Options, observer: Arc<dyn Observer>) -> Self {
        Self { client, options: Arc::new(options), observer }
    }

    /// The client that is used.
    pub fn client(&self) -> &Client {
        &self.client
    }
}

/// Work that blocks, on a thread for such.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
