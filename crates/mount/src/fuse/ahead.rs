//! Small files whose content the kernel gets before it asks for it, with the answer to an open.
//!
//! Invariants: only the first open handle of a file gives its content, since the kernel locks the pages that it waits for, and nobody could answer
//! while all threads waited for these locks; what was given and reported to have changed meanwhile is dropped.

use std::sync::{Arc, OnceLock};

use fuser::{INodeNo, Notifier};

use crate::ops::FileSystem;

/// The way to notify the kernel, once the file system is mounted.
#[derive(Debug, Clone, Default)]
pub(super) struct Kernel(Arc<OnceLock<Notifier>>);

impl Kernel {
    pub(super) fn is_there(&self, notifier: Notifier) {
        // A file system is mounted once.
        let _again = self.0.set(notifier);
    }

    /// Gives the kernel the content of a file that is being opened, if it was read ahead; returns whether the kernel has it.
    pub(super) fn give(&self, system: &FileSystem, ino: u64) -> bool {
        let Some((notifier, (etag, bytes))) = self.0.get().zip(system.read_ahead(ino)) else {
            return false;
        };
        let given = notifier.store(INodeNo(ino), 0, &bytes).is_ok();
        system.gave(ino, &etag);
        given
    }
}
