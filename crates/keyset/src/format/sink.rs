//! The events that a parser emits while it reads a file. The loader builds a key set from them; a writer writes them,
//! in constant memory.

use super::Fault;

/// Bytes of a file, and their position.
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
    /// A field that is not in any file.
    fn from(bytes: &'a [u8]) -> Self {
        Self { offset: 0, bytes }
    }
}

/// A stored value.
#[derive(Clone, Copy, Debug)]
pub enum StoredValue<'a> {
    /// Text.
    String(Field<'a>),
    /// Bytes, and how many NULs to append (only for a truncated dump).
    Binary(Field<'a>, u32),
    /// Bytes whose type is determined by the metakey `binary` (dump version 1).
    Raw(Field<'a>),
}

impl<'a> StoredValue<'a> {
    /// The bytes as stored.
    pub(crate) fn field(&self) -> Field<'a> {
        let (Self::String(field) | Self::Binary(field, _) | Self::Raw(field)) = *self;
        field
    }
}

/// The form in which a file stores the names of its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameForm {
    /// Relative to the parent.
    Relative,
    /// In full.
    Full,
    /// In full, as before 0.9.4: `user/a` for `user:/a`.
    Old,
}

/// Receives the items of a stored key set in file order.
pub trait Sink {
    /// The file starts; its names are in this form.
    ///
    /// # Errors
    /// If names of that form are not supported.
    fn begin(&mut self, names: NameForm) -> Result<(), Box<Fault>>;

    /// All keys so far are discarded (dump version 1).
    ///
    /// # Errors
    /// If they have already been passed on.
    fn clear(&mut self) -> Result<(), Box<Fault>>;

    /// A key starts.
    ///
    /// # Errors
    /// If it is rejected.
    fn key(&mut self, name: Field<'_>, value: StoredValue<'_>) -> Result<(), Box<Fault>>;

    /// How many of the following bytes, which are at `offset` in the file, the sink consumes itself, having
    /// recognised them as metakeys of the key.
    fn recognise(&mut self, rest: &[u8], offset: u64) -> usize {
        let _ = (rest, offset);
        0
    }

    /// The key has this metakey.
    ///
    /// # Errors
    /// If it is rejected.
    fn meta(&mut self, name: Field<'_>, value: Field<'_>) -> Result<(), Box<Fault>>;

    /// The key shares the metakey `meta` of an earlier `key`.
    ///
    /// # Errors
    /// If it does not exist.
    fn copy_meta(&mut self, key: Field<'_>, meta: Field<'_>) -> Result<(), Box<Fault>>;

    /// The key is complete.
    ///
    /// # Errors
    /// If it is rejected.
    fn end_key(&mut self) -> Result<(), Box<Fault>>;

    /// The file is complete.
    ///
    /// # Errors
    /// If the result cannot be completed.
    fn end(&mut self) -> Result<(), Box<Fault>>;
}
