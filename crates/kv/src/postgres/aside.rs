//! Calls from threads that drive an async runtime.
//!
//! The client of PostgreSQL blocks on a runtime of its own, which panics on such a thread. The store calls an engine from there where a hop
//! to another thread is not worth it on an embedded one.

use std::panic::resume_unwind;

use tokio::runtime::{Handle, RuntimeFlavor};

/// Runs blocking code from any thread.
pub(super) fn aside<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Err(_) => work(),
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        Ok(_) => std::thread::scope(|scope| {
            scope.spawn(work).join().unwrap_or_else(|panic| resume_unwind(panic))
        }),
    }
}
