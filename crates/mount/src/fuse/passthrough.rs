//! Files that the kernel reads itself, from the file of the content on this machine (`FUSE_PASSTHROUGH`).
//!
//! Invariant: the kernel wants all opens of an inode that are open at a time to be of one kind, so a file that is open in the ordinary way is opened so
//! again, and one that is passed through with the same file again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use fuser::{BackingId, ReplyOpen};

use crate::ops::FileSystem;

/// How inodes are open.
#[derive(Debug, Default)]
pub(super) struct Modes(Mutex<HashMap<u64, Mode>>);

#[derive(Debug)]
struct Mode {
    opens: u32,
    /// The file that the kernel reads; `None` if the mount serves the reads.
    backing: Option<Arc<BackingId>>,
}

impl Modes {
    /// Records that an inode is opened; returns the file that the kernel should read itself, if there is one.
    pub(super) async fn open(
        &self,
        system: &FileSystem,
        (ino, handle): (u64, u64),
        reply: &ReplyOpen,
    ) -> Option<Arc<BackingId>> {
        if !system.options().passes_through() {
            return None;
        }
        let local = system.local_file(handle).await;
        let mut modes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mode = modes.entry(ino).or_insert_with(|| {
            let file = local.as_ref().and_then(|local| local.whole());
            let backing = file.and_then(|file| reply.open_backing(file).ok()).map(Arc::new);
            Mode { opens: 0, backing }
        });
        mode.opens += 1;
        mode.backing.clone()
    }

    /// Notes that an inode is closed.
    pub(super) fn close(&self, ino: u64) {
        let mut modes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mode) = modes.get_mut(&ino) {
            mode.opens -= 1;
            if mode.opens == 0 {
                modes.remove(&ino);
            }
        }
    }
}
