//! The files of a catalog, before fjall looks at them.
//!
//! fjall creates what it does not find: a database if the version marker is missing, a tree if `current` is missing,
//! after removing everything else. That is correct only for the remains of an interrupted creation.
//!
//! Invariant: nothing is recreated, and nothing removed, where a commit may ever have been written.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::{journal, log};
use crate::{Error, Result};

/// The marker of a database, which fjall writes last when it creates one.
const MARKER: &str = "version";
/// Its content.
const MARKED: &[u8; 4] = b"FJL\x03";
/// What names the newest set of tables of a tree.
const CURRENT: &str = "current";
/// The tree of the rows.
pub(super) const ROWS: &str = "keyspaces/1";
/// The trees: that of the keyspaces' names, and that of the rows.
const TREES: [&str; 2] = ["keyspaces/0", ROWS];

/// Refuses a catalog without files that must exist since the first commit, and removes the remains of an interrupted
/// creation. The caller holds the lock.
pub(super) fn inspect(dir: &Path) -> Result<()> {
    if has_commits(dir).map_err(super::io)? {
        let trees = TREES.iter().map(|tree| format!("{tree}/{CURRENT}"));
        let missing = trees.chain([MARKER.to_owned()]).find(|file| is_empty(&dir.join(file)));
        let corrupt = |file| Error::Corrupt(format!("{file} is missing or empty"));
        return missing.map_or(Ok(()), |file| Err(corrupt(file)));
    }
    match is_unfinished(&dir.join(MARKER)) {
        true => clear(dir).map_err(super::io),
        false => Ok(()),
    }
}

/// Whether a commit may ever have been written: the mark is created before the first, and earlier versions without a
/// mark first wrote to the log, or to a journal.
fn has_commits(dir: &Path) -> io::Result<bool> {
    if log::mark::is_there(dir) || log::is_written(dir) || journal::is_any_written(dir)? {
        return Ok(true);
    }
    let tables =
        TREES.iter().flat_map(|tree| ["tables", "blobs"].map(|kind| dir.join(tree).join(kind)));
    // The first tree gets tables when the second one is created.
    tables.skip(2).try_fold(false, |any, tables| Ok(any || has_entries(&tables)?))
}

fn has_entries(dir: &Path) -> io::Result<bool> {
    match fs::read_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        entries => Ok(entries?.next().transpose()?.is_some()),
    }
}

fn is_empty(file: &Path) -> bool {
    !fs::metadata(file).is_ok_and(|file| file.len() > 0)
}

/// Whether the marker is missing, or has only a part of its content.
fn is_unfinished(marker: &Path) -> bool {
    let content = fs::read(marker).unwrap_or_default();
    let mut bytes = content.iter().zip(MARKED);
    content != MARKED
        && content.len() <= MARKED.len()
        && bytes.all(|(found, whole)| *found == 0 || found == whole)
}

/// fjall does not create over these.
fn clear(dir: &Path) -> io::Result<()> {
    for left in [MARKER, "0.jnl"] {
        match fs::remove_file(dir.join(left)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
