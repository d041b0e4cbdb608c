//! Room for the catalog on a disk that others fill.
//!
//! A disk that is full under a write or a merge of tables latches the engine, so commits are refused while there is
//! still some space: [`MARGIN`] stays free for the background work of the tree. Since removing things needs commits
//! too, a file holds more than that back. It is reserved for commits that free space, and for upkeep: it is released
//! when the disk is full, and until it can be held back again, other commits leave the same amount free. This does not
//! help if the disk is filled between the check and the write.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{FallocateFlags, fallocate, statvfs};

/// Free space, in bytes, below which commits are refused: a memtable being flushed, and
/// tables being merged.
const MARGIN: u64 = 64 << 20;

/// The same for commits that free space: a memtable being flushed.
const LEAST: u64 = 24 << 20;

/// A disk with less free space than this many times the reserve is left alone; on one smaller than that, a part of it
/// is kept back instead.
const AMPLE: u64 = 8;

/// What a disk has, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Disk {
    /// What this process may still write.
    pub(super) free: u64,
    pub(super) size: u64,
}

/// What to write is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    /// It adds something.
    Adding,
    /// There is more room afterwards.
    Freeing,
}

/// The file that holds space back.
pub(super) struct Reserve {
    path: PathBuf,
    size: u64,
    held: Mutex<bool>,
    disk: Box<dyn Fn() -> Disk + Send + Sync>,
}

impl fmt::Debug for Reserve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reserve").field("size", &self.size).finish_non_exhaustive()
    }
}

impl Reserve {
    /// Holds back `size` bytes in `dir` if there is enough space.
    pub(super) fn open(dir: &Path, size: u64) -> Self {
        let path = dir.to_owned();
        Self::new(dir, size, move || disk(&path))
    }

    pub(super) fn new(
        dir: &Path,
        size: u64,
        disk: impl Fn() -> Disk + Send + Sync + 'static,
    ) -> Self {
        let path = dir.join("reserve");
        let held = Mutex::new(path.exists());
        let reserve = Self { path, size, held, disk: Box::new(disk) };
        reserve.has_room_for(0, For::Adding);
        reserve
    }

    /// Whether a commit of `size` bytes may be written.
    pub(super) fn has_room_for(&self, size: usize, what: For) -> bool {
        // It is written once to the journal, and once more to a table.
        self.has_room(2 * size as u64, what)
    }

    /// Whether this many bytes may be written.
    pub(super) fn has_room(&self, bytes: u64, what: For) -> bool {
        let disk = (self.disk)();
        let mut held = self.held();
        if !*held && self.size > 0 && disk.free >= bytes.saturating_add(MARGIN + AMPLE * self.size)
        {
            *held = self.hold_back().is_ok();
        }
        match what {
            For::Adding => disk.free >= bytes.saturating_add(MARGIN + self.kept(&disk, *held)),
            For::Freeing if disk.free >= bytes.saturating_add(LEAST) => true,
            For::Freeing => {
                *held = *held && std::fs::remove_file(&self.path).is_err();
                (self.disk)().free >= bytes.saturating_add(LEAST)
            }
        }
    }

    /// What those who add something may still take, and the size of the disk.
    pub(super) fn left(&self) -> (u64, u64) {
        let disk = (self.disk)();
        let kept = MARGIN + self.kept(&disk, *self.held());
        (disk.free.saturating_sub(kept), disk.size)
    }

    /// What those who add something leave free beside the margin.
    fn kept(&self, disk: &Disk, held: bool) -> u64 {
        if held { 0 } else { self.size.min(disk.size / AMPLE) }
    }

    fn hold_back(&self) -> std::io::Result<()> {
        let file = File::options().create(true).append(true).open(&self.path)?;
        Ok(fallocate(&file, FallocateFlags::empty(), 0, self.size)?)
    }

    fn held(&self) -> MutexGuard<'_, bool> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the file system does not tell, no limit is known.
fn disk(dir: &Path) -> Disk {
    let bytes = |blocks: u64, size: u64| blocks.saturating_mul(size);
    statvfs(dir).map_or(Disk { free: u64::MAX, size: u64::MAX }, |found| Disk {
        free: bytes(found.f_bavail, found.f_frsize),
        size: bytes(found.f_blocks, found.f_frsize),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::For::{Adding, Freeing};
    use super::*;

    const MIB: u64 = 1 << 20;

    struct Case {
        dir: tempfile::TempDir,
        free: Arc<AtomicU64>,
        reserve: Reserve,
    }

    fn case(free: u64) -> Case {
        let dir = tempfile::tempdir().unwrap();
        let free = Arc::new(AtomicU64::new(free));
        let seen = free.clone();
        let disk = move || Disk { free: seen.load(Ordering::Relaxed), size: 100 * MARGIN };
        let reserve = Reserve::new(dir.path(), MIB, disk);
        Case { dir, free, reserve }
    }

    impl Case {
        fn holds_back(&self) -> bool {
            self.dir.path().join("reserve").exists()
        }

        fn room(&self, free: u64, what: For) -> bool {
            self.free.store(free, Ordering::Relaxed);
            self.reserve.has_room_for(0, what)
        }
    }

    #[test]
    fn additions_never_use_the_reserve() {
        let case = case(10 * MARGIN);
        assert!(case.room(MARGIN, Adding) && case.holds_back());
        assert!(!case.room(MARGIN - 1, Adding) && case.holds_back());
        assert!(!case.room(0, Adding) && case.holds_back());
    }

    #[test]
    fn removals_release_the_reserve_and_additions_leave_it_free_until_it_is_restored() {
        let case = case(10 * MARGIN);
        assert!(case.room(LEAST, Freeing) && case.holds_back());
        assert!(!case.room(LEAST - 1, Freeing) && !case.holds_back(), "nothing else is left");
        assert!(case.room(LEAST, Freeing));
        assert!(!case.room(MARGIN + MIB - 1, Adding));
        assert!(case.room(MARGIN + MIB, Adding) && !case.holds_back(), "too early to hold it back");
        assert!(case.room(MARGIN + AMPLE * MIB, Adding) && case.holds_back());
    }

    #[test]
    fn a_full_disk_permits_no_reserve_and_no_commit() {
        let case = case(LEAST - 1);
        assert!(!case.holds_back());
        assert!(!case.room(LEAST - 1, Adding) && !case.room(LEAST - 1, Freeing));
    }

    #[test]
    fn a_commit_needs_space_for_itself() {
        let case = case(10 * MARGIN);
        assert!(case.reserve.has_room_for(MARGIN as usize, Adding));
        assert!(!case.reserve.has_room_for(9 * MARGIN as usize, Adding));
        assert!(!case.reserve.has_room_for(9 * MARGIN as usize, Freeing));
    }
}
