//! The files of a catalog, before fjall looks at them.
//!
//! fjall makes what it does not find: a database where there is no version marker, a tree where there is no `current`, after
//! removing what else is there. That is right for what a creation left that was killed, and only for that.
//!
//! Invariant: nothing is recreated, and nothing removed, where a commit may ever have been written.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::{journal, log};
use crate::{Error, Result};

/// The marker of a database, which fjall writes last when it makes one.
const MARKER: &str = "version";
/// What names the newest set of tables of a tree.
const CURRENT: &str = "current";
/// The trees: that of the keyspaces' names, and that of the rows.
const TREES: [&str; 2] = ["keyspaces/0", "keyspaces/1"];

/// Refuses a catalog in which files are missing that were there when the first commit was written, and clears away
/// what a creation left that was killed before its end. The caller holds the lock.
pub(super) fn inspect(dir: &Path) -> Result<()> {
    if has_commits(dir).map_err(super::io)? {
        let trees = TREES.iter().map(|tree| format!("{tree}/{CURRENT}"));
        let missing = trees.chain([MARKER.to_owned()]).find(|file| is_empty(&dir.join(file)));
        let corrupt = |file| Error::Corrupt(format!("{file} is missing or empty"));
        return missing.map_or(Ok(()), |file| Err(corrupt(file)));
    }
    match is_empty(&dir.join(MARKER)) {
        true => clear(dir).map_err(super::io),
        false => Ok(()),
    }
}

/// Whether a commit may ever have been written: the mark is made before the first, and programs that had none
/// wrote to the log first, or to a journal.
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
