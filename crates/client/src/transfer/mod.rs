//! Transfers of files and trees between a local disk and the store: parallel, resumable, verified.
//!
//! Invariants: a file appears under its name only when it is complete and, unless disabled, verified; an upload is
//! published only after every part has been checked; an interrupted transfer continues from what has arrived when it
//! is started again.

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
pub(crate) use unpack::labels;

use crate::Client;

/// Observes a transfer, from any thread.
pub trait Observer: Debug + Send + Sync {
    /// This many more bytes have been sent or received.
    fn moved(&self, bytes: u64);
}

/// Observes nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn moved(&self, _: u64) {}
}

/// Options for transfers.
#[derive(Debug, Clone)]
pub struct Options {
    /// Number of concurrent requests.
    pub jobs: NonZeroUsize,
    /// Whether downloads are verified with the store's digest. Uploads always are.
    pub verify: bool,
    /// Where interrupted uploads are recorded; without it they start from the beginning.
    pub journal: Option<PathBuf>,
    /// Files of at least this size, in bytes, are uploaded in parts.
    pub parts_from: u64,
    /// The size of a part in bytes.
    pub part_size: NonZeroUsize,
    /// Files of at least this size, in bytes, are downloaded in concurrent ranges. None are by default: one stream is
    /// as fast unless the network is the limit, and is verified while it arrives.
    pub ranges_from: Option<u64>,
    /// The size of a range in bytes.
    pub range_size: NonZeroUsize,
    /// The place or group that stores the bytes of a tree, instead of the default one.
    pub place: Option<String>,
    /// Downloads read the objects as of this moment, a time or a position, by their paths at that moment.
    pub as_of: Option<String>,
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
            as_of: None,
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

    /// The client used.
    pub fn client(&self) -> &Client {
        &self.client
    }
}

/// Runs blocking work on a suitable thread.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
