//! What a parser tells of a file as it reads it. The loader makes a key set of
//! that; a writer writes it on, in constant memory.

use super::Fault;

/// Bytes of a file and where they are in it.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// Where the bytes start in the file.
    pub offset: u64,
    /// The bytes as stored.
    pub bytes: &'a [u8],
}

impl Field<'_> {
    /// Where the bytes end in the file.
    pub(crate) fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }
}

impl<'a> From<&'a [u8]> for Field<'a> {
    /// A field that no file holds.
    fn from(bytes: &'a [u8]) -> Self {
        Self { offset: 0, bytes }
    }
}

/// A stored value.
#[derive(Clone, Copy, Debug)]
pub enum StoredValue<'a> {
    /// Text.
    String(Field<'a>),
    /// Bytes, and how many NULs to add to them (only in a dump that was cut).
    Binary(Field<'a>, u32),
    /// Bytes of which the metakey `binary` tells what they are (dump version 1).
    Raw(Field<'a>),
}

impl<'a> StoredValue<'a> {
    /// The bytes as stored.
    pub(crate) fn field(&self) -> Field<'a> {
        let (Self::String(field) | Self::Binary(field, _) | Self::Raw(field)) = *self;
        field
    }
}

/// How a file writes the names of its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameForm {
    /// Relative to the parent.
    Relative,
    /// In full.
    Full,
    /// In full, as before 0.9.4: `user/a` for `user:/a`.
    Old,
}

/// Takes the items of a stored key set in the order of the file.
pub trait Sink {
    /// The file starts; its names are in this form.
    ///
    /// # Errors
    /// If names of that form cannot be taken.
    fn begin(&mut self, names: NameForm) -> Result<(), Box<Fault>>;

    /// All keys so far are to be forgotten (dump version 1).
    ///
    /// # Errors
    /// If they are already gone further.
    fn clear(&mut self) -> Result<(), Box<Fault>>;

    /// A key starts.
    ///
    /// # Errors
    /// If it cannot be taken.
    fn key(&mut self, name: Field<'_>, value: StoredValue<'_>) -> Result<(), Box<Fault>>;

    /// How many of the bytes that follow, which start at `offset` of the file, the
    /// sink copies itself, having recognised them as metakeys of the key.
    fn recognise(&mut self, rest: &[u8], offset: u64) -> usize {
        let _ = (rest, offset);
        0
    }

    /// The key has this metakey.
    ///
    /// # Errors
    /// If it cannot be taken.
    fn meta(&mut self, name: Field<'_>, value: Field<'_>) -> Result<(), Box<Fault>>;

    /// The key shares the metakey `meta` of an earlier `key`.
    ///
    /// # Errors
    /// If there is none.
    fn copy_meta(&mut self, key: Field<'_>, meta: Field<'_>) -> Result<(), Box<Fault>>;

    /// The key is complete.
    ///
    /// # Errors
    /// If it cannot be taken.
    fn end_key(&mut self) -> Result<(), Box<Fault>>;

    /// The file is complete.
    ///
    /// # Errors
    /// If what was taken cannot be finished.
    fn end(&mut self) -> Result<(), Box<Fault>>;
}
