//! The known part of the tree, stored beside the contents in the cache on the local disk, so that a mount can start
//! without the server.
//!
//! A file in `trees/` for each store, user and mounted collection has [notes](note), which are appended at most a
//! second after the mount learned of the state, and rewritten when many are outdated. Nothing is synced: an incomplete
//! line is skipped.
//!
//! Invariant: nothing is recorded that an earlier recorded change has invalidated; resources that may no longer be
//! shown ([`Note::Clear`]) are not read from it.

mod keep;
mod note;
mod tree;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cenote_client::Sha256Digest;

pub(crate) use self::note::{Note, ResourceState};
pub(crate) use self::tree::Tree;

/// The most bytes of a journal after it was rewritten; it grows to twice as many.
const LIMIT: usize = 32 << 20;
/// A journal that grew by less than this is not rewritten.
const SLACK: u64 = 4 << 20;
/// How many journals are kept: those that were written last.
const JOURNALS: usize = 16;

/// The journal of one mount.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    /// The file that is appended to, once started.
    open: Mutex<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    file: File,
    /// Its bytes, and those that it had when it was rewritten.
    length: u64,
    rewritten: u64,
    /// The last position that was noted.
    position: String,
}

impl Open {
    fn append(&mut self, notes: &[Note]) -> io::Result<()> {
        let lines: Vec<u8> = notes.iter().flat_map(Note::encode).collect();
        self.file.write_all(&lines)?;
        self.length += lines.len() as u64;
        Ok(())
    }
}

impl Journal {
    /// The journal in a cache directory, identified by `of`.
    pub(crate) fn at(dir: &Path, of: &str) -> io::Result<Self> {
        let dir = dir.join("trees");
        DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
        let digest = Sha256Digest::of(of.as_bytes());
        let name: String = digest.bytes()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { path: dir.join(name), open: Mutex::default() })
    }

    pub(crate) fn exists(&self) -> bool {
        self.path.exists()
    }

    /// The content of the journal.
    pub(crate) fn read(&self) -> io::Result<Tree> {
        match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Tree::default()),
            journal => Ok(Tree::read(&journal?)),
        }
    }

    /// Starts appending to it: it then contains this tree, and these notes.
    pub(crate) fn begin(&self, tree: Tree, notes: &[Note]) -> io::Result<()> {
        drop_oldest(&self.path)?;
        let mut open = self.rewrite(tree)?;
        open.append(notes)?;
        *self.lock() = Some(open);
        Ok(())
    }

    /// Appends notes, and the position of the feed up to which everything is recorded, if it was started.
    pub(crate) fn append(&self, mut notes: Vec<Note>, position: &str) -> io::Result<()> {
        let mut slot = self.lock();
        let Some(open) = slot.as_mut() else { return Ok(()) };
        if open.position != position {
            position.clone_into(&mut open.position);
            notes.push(Note::Reached(position.to_owned()));
        }
        open.append(&notes)?;
        if open.length > 2 * open.rewritten + SLACK {
            *slot = Some(Open { position: position.to_owned(), ..self.rewrite(self.read()?)? });
        }
        Ok(())
    }

    pub(crate) fn is_begun(&self) -> bool {
        self.lock().is_some()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rewrite(&self, tree: Tree) -> io::Result<Open> {
        let new = self.path.with_extension("new");
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        let journal = tree.journal(LIMIT);
        file.write_all(&journal)?;
        fs::rename(new, &self.path)?;
        let length = journal.len() as u64;
        Ok(Open { file, length, rewritten: length, position: String::new() })
    }
}

/// Removes the journals that were not written to for the longest time.
fn drop_oldest(own: &Path) -> io::Result<()> {
    let mut others = Vec::new();
    let dir = own.parent().map(fs::read_dir).transpose()?;
    for entry in dir.into_iter().flatten() {
        let entry = entry?;
        if entry.path() != own {
            others.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    others.sort_unstable();
    let too_many = (others.len() + 1).saturating_sub(JOURNALS);
    others.into_iter().take(too_many).try_for_each(|(_, path)| fs::remove_file(path))
}

#[cfg(test)]
mod tests;
