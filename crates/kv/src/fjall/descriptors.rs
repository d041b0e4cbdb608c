//! File descriptors for the tree.
//!
//! fjall opens files in the background, when it writes what is in memory to tables and merges them. If one cannot be opened
//! because the process or the system has no descriptor left, the tree is closed to writes until it is opened again. So
//! commits are refused, with an error that passes, while fewer than [`SPARE`] files could be opened. This does not help
//! if all of them are taken between the check and the background work.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Files that the background threads have open at a time beside the cached tables: a table, its values and a list of
/// tables for each, and a new journal.
const SPARE: usize = 32;

/// Bytes of commits between two looks: far fewer than fill the memory after which files are written.
const LOOK: u64 = 1 << 20;

/// Looks now and then whether enough files can be opened.
#[derive(Debug)]
pub(super) struct Descriptors {
    /// A directory that can be opened whenever a descriptor is left.
    dir: PathBuf,
    /// Bytes that may be committed before the next look.
    left: AtomicU64,
}

impl Descriptors {
    pub(super) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), left: AtomicU64::new(0) }
    }

    /// Whether a commit of `size` bytes may be written; the error names what is missing. Only the leader of a commit group
    /// calls this.
    pub(super) fn admit(&self, size: usize) -> io::Result<()> {
        let left = match self.left.load(Ordering::Relaxed).checked_sub(size as u64) {
            Some(left) => left,
            None => {
                // After a refusal each commit checks again, so that the first one that can be written is written.
                self.left.store(0, Ordering::Relaxed);
                self.look()?;
                LOOK
            }
        };
        self.left.store(left, Ordering::Relaxed);
        Ok(())
    }

    /// Opens as many files as must be spare, and closes them.
    pub(super) fn look(&self) -> io::Result<()> {
        let open = (0..SPARE).map(|_| File::open(&self.dir));
        open.collect::<io::Result<Vec<_>>>().map(drop)
    }
}
