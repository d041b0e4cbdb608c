//! Notes about resources: what a resource is called in an opening's protocol, and what that needs to know of it.
//!
//! DNAnexus, for example, gives an object an id of a class and 24 characters, shows several objects of one name in a folder, and one
//! object in several projects. Its opening gives each object a resource with a name of its own in each project, and notes about it,
//! under `object/file-…/project-…`, the name that is shown. The name leads to the resource, all names that begin with
//! `object/file-…/` lead to all places of the object, and the resource leads to its names.
//!
//! Invariant: a name is that of one resource, whether it is in the tree or in the trash. The notes about a resource are kept as
//! long as it is, and are removed in the commit that removes it for good. Each is there twice, with the same value: by its name,
//! which is primary, and by its resource.

use cenote_kv::Wanted;

use crate::access::Operation;
use crate::catalog::{NoteRecord, Reads, Record, Transaction, keys};
use crate::model::{At, ResourceId, Stat, StorePath};
use crate::notes::{Notes, check};
use crate::resources::{find, trace};
use crate::{Bytes, Caller, Error, ErrorKind, Reading, Result, Store};

/// A note of an opening about a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteAbout {
    /// What the resource is called in the opening.
    pub name: String,
    /// The resource.
    pub resource: ResourceId,
    /// In the opening's own words.
    pub note: Bytes,
}

impl Notes<'_> {
    /// The note about the resource that has this name.
    pub fn named(&self, name: &str) -> Result<Option<NoteAbout>> {
        let record = self.tx.get::<NoteRecord>(&keys::note_named(self.opening, name))?;
        Ok(record.map(|record| NoteAbout::of(name, record)))
    }

    /// The notes about a resource, in the order of their names.
    pub fn about(&self, resource: ResourceId) -> Result<Vec<NoteAbout>> {
        about(self.tx, self.opening, resource)
    }

    /// Keeps a note about a resource, in the place of one of the same name.
    ///
    /// # Errors
    /// [`ErrorKind::Exists`] if another resource has the name, in the tree or in the trash; [`ErrorKind::NotFound`] if there is
    /// no such resource.
    pub fn put_about(&mut self, resource: ResourceId, name: &str, note: Bytes) -> Result<()> {
        check(name, &note)?;
        if !self.tx.has(&keys::resource(resource))? {
            return Err(Error::not_found(At::Id(resource)));
        }
        if self.named(name)?.is_some_and(|there| there.resource != resource) {
            return Err(Error::new(ErrorKind::Exists, format!("the name is taken: {name}")));
        }
        let record = NoteRecord { resource, note: note.to_vec() };
        self.tx.put(keys::note_named(self.opening, name), &record);
        self.tx.put(keys::note_about(resource, self.opening, name), &record);
        Ok(())
    }

    /// Removes the note with this name about a resource, if it exists.
    pub fn remove_named(&mut self, name: &str) -> Result<()> {
        if let Some(there) = self.named(name)? {
            self.tx.delete(keys::note_named(self.opening, name));
            self.tx.delete(keys::note_about(there.resource, self.opening, name));
        }
        Ok(())
    }
}

impl Store {
    /// The resource that has this name in an opening, and the note about it. Needs `Rights::READ_DESCRIPTION` on the resource;
    /// one in the trash is missing.
    pub fn named_by(&self, caller: &Caller, opening: &str, name: &str) -> Result<(Stat, Bytes)> {
        let view = self.view()?;
        let missing = || Error::new(ErrorKind::NotFound, format!("there is no {name}"));
        let record = view.get::<NoteRecord>(&keys::note_named(opening, name))?;
        let record = record.ok_or_else(missing)?;
        let chain = find(&view, caller, &At::Id(record.resource), Operation::Stat);
        let chain = chain.map_err(|error| match error.kind() {
            // Treated like a name that does not exist.
            ErrorKind::NotFound => missing(),
            _ => error,
        })?;
        Ok((chain.into(), record.note.into()))
    }

    /// Changes the notes of an opening about a resource, and others with them: all that `change` does, or nothing if it
    /// fails. Needs `Rights::CHANGE_DESCRIPTION`.
    pub fn change_notes_about<T>(
        &self,
        caller: &Caller,
        at: &At,
        opening: &str,
        mut change: impl FnMut(&mut Notes<'_>) -> Result<T>,
    ) -> Result<T> {
        self.transact(|tx| {
            let chain = find(tx, caller, at, Operation::ChangeDescription)?;
            change(&mut Notes::in_commit(tx, opening, chain.id()))
        })
    }
}

/// So many notes about one resource, or of one name, are read ahead.
pub(crate) const NOTES: usize = 8;

impl Reading {
    /// The notes of an opening about what [`Reading::stat`] and the like gave, in the order of their names.
    pub fn notes_about(&self, opening: &str, of: &Stat) -> Result<Vec<NoteAbout>> {
        about(self.view(), opening, of.id)
    }

    /// Reads notes that are asked for soon, in one round trip if the store is on another machine: those about these resources.
    pub fn foresee_notes_about(&self, opening: &str, of: &[Stat]) -> Result<()> {
        self.foresee(opening, || of.iter().map(|stat| stat.id).collect())
    }

    /// The same of those about the resource at a path and the collections above it.
    pub fn foresee_notes_above(&self, opening: &str, path: &StorePath) -> Result<()> {
        let chain = if self.view().remembers { trace(self.view(), path)? } else { None };
        let above = || chain.iter().flat_map(|chain| chain.links().map(|(id, _)| id));
        self.foresee(opening, || above().collect())
    }

    fn foresee(&self, opening: &str, ids: impl FnOnce() -> Vec<ResourceId>) -> Result<()> {
        self.view().read_ahead(|| {
            let of = |id| (keys::notes_about(id, opening), NOTES);
            Wanted { ranges: ids().into_iter().map(of).collect(), ..Wanted::default() }
        })
    }

    /// The notes of an opening whose names begin with `prefix`, at most `limit`, each with its resource, as far as the caller may
    /// see it.
    pub fn named(
        &self,
        opening: &str,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<(Stat, NoteAbout)>> {
        let rows = self.view().rows(&keys::notes_named(opening, prefix), limit)?;
        let mut named = Vec::with_capacity(rows.len());
        for (key, value) in rows {
            let note =
                NoteAbout::of(keys::note_name(opening, &key), NoteRecord::from_value(&value)?);
            named.extend(self.stat(&At::Id(note.resource))?.map(|stat| (stat, note)));
        }
        Ok(named)
    }
}

impl NoteAbout {
    fn of(name: &str, record: NoteRecord) -> Self {
        let NoteRecord { resource, note } = record;
        Self { name: name.to_owned(), resource, note: note.into() }
    }
}

fn about(reads: &impl Reads, opening: &str, resource: ResourceId) -> Result<Vec<NoteAbout>> {
    let rows = reads.rows(&keys::notes_about(resource, opening), usize::MAX)?;
    let note = |(key, value): (Bytes, Bytes)| {
        let (_, name) = keys::opening_and_name(&key);
        Ok(NoteAbout::of(name, NoteRecord::from_value(&value)?))
    };
    rows.into_iter().map(note).collect()
}

/// Removes all notes about a resource that is removed for good, of all openings.
pub(crate) fn erase(tx: &mut Transaction, resource: ResourceId) -> Result<()> {
    for (key, _) in tx.rows(&keys::all_notes_about(resource), usize::MAX)? {
        let (opening, name) = keys::opening_and_name(&key);
        tx.delete(keys::note_named(opening, name));
        tx.delete(key);
    }
    Ok(())
}
