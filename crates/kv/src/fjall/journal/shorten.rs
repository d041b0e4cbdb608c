//! The newest journal without what tables already have.
//!
//! fjall leaves a journal for the next one after 64 MB, whatever is in tables by then, and reads all of it when it opens: it
//! finds the tree of each row, although a memtable has only the last of them. Most of the time of a start was spent on that.
//!
//! Invariant: a batch is dropped only if tables have it, by the rule by which fjall itself passes over it: memtables are
//! flushed in order, so tables have each batch up to the highest sequence number in them. At any moment either the
//! journal or the shorter one is in its place, whole. The last batch that tables have stays, so that a journal
//! that was written to never looks like one of a new catalog.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use fjall::AbstractTree as _;
use lsm_tree::Config;

use super::{End, Newest};
use crate::fjall::directory::sync_dir;
use crate::fjall::files::ROWS;
use crate::fjall::rows_apart;

/// Fewer bytes are not worth a new file.
const WORTH: usize = 1 << 20;
/// The extension of one that is not finished, which fjall does not look at.
const UNFINISHED: &str = "shorter";

impl Newest {
    /// Shortens it, in `dir`, after its tail was cut off, and frees its batches. If there can be no shorter one, it stays as
    /// it is.
    pub(in crate::fjall) fn shorten(&mut self, dir: &Path) -> io::Result<()> {
        let batches = std::mem::take(&mut self.batches);
        if batches.len() < WORTH {
            return Ok(());
        }
        let Some(persisted) = highest_in_tables(&dir.join(ROWS)) else { return Ok(()) };
        let at = settled(&self.ends, persisted);
        if at < WORTH || replace(&self.path, &batches[at..]).is_err() {
            return Ok(());
        }
        self.tail.iter_mut().for_each(|tail| tail.moved_forward(at as u64));
        // Until then a power cut could restore the longer one, without what is written to the other from now on.
        sync_dir(dir)
    }
}

/// The highest sequence number in the tables of a tree. None if there is none, or if it cannot be read, which is
/// reported when the tree is opened for use.
fn highest_in_tables(tree: &Path) -> Option<u64> {
    let config = Config::new(tree, Default::default(), Default::default());
    let open = || config.with_kv_separation(Some(rows_apart())).open();
    let tree = catch_unwind(AssertUnwindSafe(open)).ok()?.ok()?;
    tree.get_highest_persisted_seqno()
}

/// Where the last batch starts that is not newer than `persisted`: the one before it ends there.
fn settled(ends: &[End], persisted: u64) -> usize {
    let settled = ends.partition_point(|(sequence, _)| *sequence <= persisted);
    settled.checked_sub(2).map_or(0, |before| ends[before].1)
}

/// Puts a journal with these batches in the place of one, or leaves nothing of it.
fn replace(journal: &Path, batches: &[u8]) -> io::Result<()> {
    let unfinished = journal.with_extension(UNFINISHED);
    let replaced = write(&unfinished, batches).and_then(|()| fs::rename(&unfinished, journal));
    replaced.inspect_err(|_| drop(fs::remove_file(&unfinished)))
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::super::ends_of_batches;
    use super::super::tests::written;
    use super::*;

    #[test]
    fn batches_in_tables_are_settled_but_for_the_last_of_them() {
        let batches = [written(4, &[b"one"]), written(7, &[b"two", b""]), written(9, &[b"three"])];
        let starts = [0, batches[0].len(), batches[0].len() + batches[1].len()];
        let ends = ends_of_batches(&batches.concat());
        for (persisted, start) in [(0, 0), (3, 0), (4, 0), (6, 0), (7, 1), (8, 1), (9, 2), (99, 2)]
        {
            assert_eq!(settled(&ends, persisted), starts[start], "up to {persisted}");
        }
        assert_eq!(settled(&[], 4), 0);
    }

    #[test]
    fn a_journal_that_cannot_be_replaced_stays() {
        let dir = tempfile::tempdir().unwrap();
        let journal = dir.path().join("0.jnl");
        fs::write(&journal, "whole").unwrap();
        // As if it could not be created.
        fs::create_dir(dir.path().join("0.shorter")).unwrap();
        assert!(replace(&journal, b"rest").is_err());
        assert_eq!(fs::read(&journal).unwrap(), b"whole");
        fs::remove_dir(dir.path().join("0.shorter")).unwrap();
        // What an interrupted attempt left is longer.
        fs::write(dir.path().join("0.shorter"), "half of a longer one").unwrap();
        replace(&journal, b"rest").unwrap();
        assert_eq!(fs::read(&journal).unwrap(), b"rest");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
