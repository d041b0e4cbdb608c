//! Notes of an opening: small records that its protocol needs and the store has no word for (the remote
//! zones of iRODS, say). The store keeps them with everything else, so that any server over the same
//! catalog knows them, and does not look into them. Some are about a resource, whose name in the protocol they are: see `about`.
//!
//! Invariant: a change of several notes happens whole or not at all, and only if nothing that it read
//! was changed in the meantime. It can be part of the commit that changes a resource.

mod about;

pub use self::about::NoteAbout;
pub(crate) use self::about::{NOTES, erase};

use crate::catalog::{Reads, Transaction, keys};
use crate::model::{ResourceId, Time};
use crate::{Act, Bytes, Caller, Error, ErrorKind, Result, Store};

/// The longest name of a note, in bytes.
const MAX_NAME: usize = 4_096;
/// The largest note, in bytes.
const MAX_NOTE: usize = 1 << 20;

/// The notes of one opening, while they are being changed.
#[derive(Debug)]
pub struct Notes<'a> {
    tx: &'a mut Transaction,
    opening: &'a str,
    about: Option<ResourceId>,
}

impl<'a> Notes<'a> {
    /// Those of an opening, to be changed in a commit that changes this resource.
    pub(crate) fn in_commit(tx: &'a mut Transaction, opening: &'a str, about: ResourceId) -> Self {
        Self { tx, opening, about: Some(about) }
    }

    /// The resource that the same commit creates or changes, if it does.
    pub fn resource(&self) -> Option<ResourceId> {
        self.about
    }

    /// The note of this name.
    pub fn get(&self, name: &str) -> Result<Option<Bytes>> {
        self.tx.value(&keys::note(self.opening, name))
    }

    /// All notes whose names begin with `prefix`, in the order of their names.
    pub fn all(&self, prefix: &str) -> Result<Vec<(String, Bytes)>> {
        all(self.tx, self.opening, prefix)
    }

    /// Keeps a note, in the place of one of the same name.
    pub fn put(&mut self, name: &str, note: Bytes) -> Result<()> {
        check(name, &note)?;
        self.tx.put_raw(keys::note(self.opening, name), note);
        Ok(())
    }

    /// Removes a note, if it exists.
    pub fn remove(&mut self, name: &str) {
        self.tx.delete(keys::note(self.opening, name));
    }

    /// The time of the change.
    pub fn now(&self) -> Time {
        self.tx.now()
    }
}

impl Store {
    /// The note of an opening that has this name.
    pub fn note(&self, opening: &str, name: &str) -> Result<Option<Bytes>> {
        self.view()?.value(&keys::note(opening, name))
    }

    /// The notes of an opening whose names begin with `prefix`, in the order of their names.
    pub fn notes(&self, opening: &str, prefix: &str) -> Result<Vec<(String, Bytes)>> {
        all(&self.view()?, opening, prefix)
    }

    /// Changes notes of an opening: all that `change` does, or nothing if it fails. It may be
    /// called again, if others change the same notes. What they are to the opening is what it needs: [`Act::Configure`] for
    /// what it keeps for all, [`Act::Defer`] for what the server does later in the caller's name.
    pub fn change_notes<T>(
        &self,
        caller: &Caller,
        act: Act,
        opening: &str,
        change: impl FnMut(&mut Notes<'_>) -> Result<T>,
    ) -> Result<T> {
        caller.require(act)?;
        self.tend_notes(opening, change)
    }

    /// The same by the opening itself, without a caller: for notes that belong to a request whose access is checked elsewhere, and for
    /// those that have expired.
    pub fn tend_notes<T>(
        &self,
        opening: &str,
        mut change: impl FnMut(&mut Notes<'_>) -> Result<T>,
    ) -> Result<T> {
        self.transact(|tx| change(&mut Notes { tx, opening, about: None }))
    }
}

fn check(name: &str, note: &Bytes) -> Result<()> {
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(Error::invalid("a note has a name of at most 4 KiB"));
    }
    match note.len() > MAX_NOTE {
        true => Err(Error::new(ErrorKind::TooLarge, "a note has at most 1 MiB")),
        false => Ok(()),
    }
}

fn all(reads: &impl Reads, opening: &str, prefix: &str) -> Result<Vec<(String, Bytes)>> {
    let rows = reads.rows(&keys::notes(opening, prefix), usize::MAX)?;
    let named = |(key, note): (Bytes, Bytes)| (keys::note_name(opening, &key).to_owned(), note);
    Ok(rows.into_iter().map(named).collect())
}
