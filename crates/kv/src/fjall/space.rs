//! Room for the catalog on a disk that others fill.
//!
//! A disk that is full under a write or a compaction latches the engine, so commits are
//! refused while there is still some room: [`MARGIN`] stays free for what the tree does in
//! the background. Since removing things needs commits too, a file holds space back,
//! and is given up when the margin is reached.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{FallocateFlags, fallocate, statvfs};

/// Free space, in bytes, below which commits are refused: a memtable being flushed and
/// the tables that a compaction rewrites.
const MARGIN: u64 = 96 << 20;

/// The file that holds space back.
#[derive(Debug)]
pub(super) struct Reserve {
    dir: PathBuf,
    size: u64,
    held: Mutex<bool>,
}

impl Reserve {
    /// Holds back `size` bytes if there is room for them.
    pub(super) fn open(dir: &Path, size: u64) -> Self {
        let reserve = Self { dir: dir.to_owned(), size, held: Mutex::new(false) };
        reserve.has_room_for(0);
        reserve
    }

    /// Whether a commit of `size` bytes may be written.
    pub(super) fn has_room_for(&self, size: usize) -> bool {
        // The journal takes it once, the table that it ends in once more.
        let needed = MARGIN + 2 * size as u64;
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if *held && self.free() < needed {
            *held = std::fs::remove_file(self.path()).is_err();
        } else if !*held && self.size > 0 && self.free() >= needed + 2 * self.size {
            *held = self.hold_back().is_ok();
        }
        self.free() >= needed
    }

    fn hold_back(&self) -> std::io::Result<()> {
        let file = File::options().create(true).append(true).open(self.path())?;
        Ok(fallocate(&file, FallocateFlags::empty(), 0, self.size)?)
    }

    /// Bytes that this process may still write; without an answer, no limit is known.
    fn free(&self) -> u64 {
        statvfs(&self.dir).map_or(u64::MAX, |fs| fs.f_bavail.saturating_mul(fs.f_frsize))
    }

    fn path(&self) -> PathBuf {
        self.dir.join("reserve")
    }
}
