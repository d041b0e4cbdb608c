//! Room for the catalog on a disk that others fill.
//!
//! A disk that is full under a write or a merge of tables latches the engine, so commits are
//! refused while there is still some room: [`MARGIN`] stays free for what the tree does in
//! the background. Since removing things needs commits too, a file holds more than that
//! back, and is given up when the margin is reached. Nothing can be promised against someone
//! who fills the disk in the moment between the look and the write.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{FallocateFlags, fallocate, statvfs};

/// Free space, in bytes, below which commits are refused: a memtable being flushed, and
/// tables being merged.
const MARGIN: u64 = 64 << 20;

/// A disk with less free space than this many times the reserve is left alone.
const AMPLE: u64 = 8;

/// The file that holds space back.
pub(super) struct Reserve {
    path: PathBuf,
    size: u64,
    held: Mutex<bool>,
    /// Bytes that this process may still write.
    free: Box<dyn Fn() -> u64 + Send + Sync>,
}

impl fmt::Debug for Reserve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reserve").field("size", &self.size).finish_non_exhaustive()
    }
}

impl Reserve {
    /// Holds back `size` bytes in `dir` if there is room for them.
    pub(super) fn open(dir: &Path, size: u64) -> Self {
        let disk = dir.to_owned();
        Self::new(dir, size, move || free(&disk))
    }

    fn new(dir: &Path, size: u64, free: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        let path = dir.join("reserve");
        let held = Mutex::new(path.exists());
        let reserve = Self { path, size, held, free: Box::new(free) };
        reserve.has_room_for(0);
        reserve
    }

    /// Whether a commit of `size` bytes may be written.
    pub(super) fn has_room_for(&self, size: usize) -> bool {
        // The journal takes it once, the table that it ends in once more.
        let needed = MARGIN + 2 * size as u64;
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let free = (self.free)();
        if *held && free < needed {
            *held = std::fs::remove_file(&self.path).is_err();
        } else if !*held && self.size > 0 && free >= needed + AMPLE * self.size {
            *held = self.hold_back().is_ok();
        } else {
            return free >= needed;
        }
        (self.free)() >= needed
    }

    /// Whether upkeep that gives space back in the end may write `size` bytes before it does.
    pub(super) fn has_room_for_upkeep(&self, size: u64) -> bool {
        (self.free)() >= size.saturating_add(MARGIN / 2)
    }

    fn hold_back(&self) -> std::io::Result<()> {
        let file = File::options().create(true).append(true).open(&self.path)?;
        Ok(fallocate(&file, FallocateFlags::empty(), 0, self.size)?)
    }
}

/// Where the file system does not tell, no limit is known.
fn free(dir: &Path) -> u64 {
    statvfs(dir).map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    const MIB: u64 = 1 << 20;

    struct Disk {
        dir: tempfile::TempDir,
        free: Arc<AtomicU64>,
        reserve: Reserve,
    }

    fn disk(free: u64) -> Disk {
        let dir = tempfile::tempdir().unwrap();
        let free = Arc::new(AtomicU64::new(free));
        let seen = free.clone();
        let reserve = Reserve::new(dir.path(), MIB, move || seen.load(Ordering::Relaxed));
        Disk { dir, free, reserve }
    }

    impl Disk {
        fn holds_back(&self) -> bool {
            self.dir.path().join("reserve").exists()
        }

        fn room(&self, free: u64) -> bool {
            self.free.store(free, Ordering::Relaxed);
            self.reserve.has_room_for(0)
        }
    }

    #[test]
    fn the_reserve_is_given_up_before_the_margin_is_touched_and_taken_back_later() {
        let disk = disk(10 * MARGIN);
        assert!(disk.holds_back());
        assert!(disk.room(MARGIN) && disk.holds_back());
        assert!(!disk.room(MARGIN - 1) && !disk.holds_back());
        assert!(disk.room(MARGIN + MIB) && !disk.holds_back(), "too early to take it back");
        assert!(disk.room(MARGIN + AMPLE * MIB) && disk.holds_back());
    }

    #[test]
    fn a_full_disk_gets_no_reserve_and_no_commit() {
        let disk = disk(MARGIN - 1);
        assert!(!disk.holds_back() && !disk.reserve.has_room_for(0));
    }

    #[test]
    fn a_commit_needs_room_for_itself() {
        let disk = disk(10 * MARGIN);
        assert!(disk.reserve.has_room_for(MARGIN as usize));
        assert!(!disk.reserve.has_room_for(9 * MARGIN as usize));
    }
}
