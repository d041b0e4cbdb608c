//! Metakeys: small named strings that describe a key.
//!
//! Invariant: a metakey is immutable, so that several keys can share it. Sharing is by identity, not by content, and
//! is preserved by the storage formats.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::block::Block;
use crate::name::{self, NameError};
use crate::value::NulInString;

/// The metakey that marks a key as binary.
pub(crate) const BINARY: &[u8] = b"binary";

/// A metakey. Cheap to clone; clones are the same metakey.
#[derive(Clone)]
pub struct MetaKey(Repr);

#[derive(Clone)]
enum Repr {
    Own(Arc<Pair>),
    Packed(Arc<Block>, u64),
}

struct Pair {
    name: Box<[u8]>,
    value: Box<[u8]>,
}

/// A borrowed metakey.
#[derive(Clone, Copy)]
pub struct MetaRef<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) value: &'a [u8],
    pub(crate) id: MetaId,
}

/// The identity of a metakey, valid as long as it lives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct MetaId {
    /// Distinguishes the metakeys of one block from all others.
    pub(crate) home: usize,
    /// The number of the metakey within a block.
    pub(crate) number: u64,
}

/// Why a metakey cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetaError {
    /// The name is invalid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The value is not text.
    #[error(transparent)]
    Value(#[from] NulInString),
}

impl MetaKey {
    /// Creates a metakey. `name` may be written with or without `meta:/`.
    ///
    /// # Errors
    /// If the name is invalid or the value contains a NUL.
    pub fn new(name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<Self, MetaError> {
        let value = value.as_ref();
        if let Some(at) = memchr::memchr(0, value) {
            return Err(NulInString(at).into());
        }
        Ok(Self::own(canonical_name(name.as_ref())?, value))
    }

    pub(crate) fn own(name: Vec<u8>, value: &[u8]) -> Self {
        Self(Repr::Own(Arc::new(Pair { name: name.into(), value: value.into() })))
    }

    pub(crate) fn packed(block: &Arc<Block>, number: u64) -> Self {
        Self(Repr::Packed(Arc::clone(block), number))
    }

    /// Whether other keys may share it.
    pub(crate) fn may_be_shared(&self) -> bool {
        match &self.0 {
            Repr::Own(pair) => Arc::strong_count(pair) > 1,
            Repr::Packed(..) => true,
        }
    }

    /// The borrowed form.
    pub fn borrow(&self) -> MetaRef<'_> {
        match &self.0 {
            Repr::Own(pair) => MetaRef {
                name: &pair.name,
                value: &pair.value,
                id: MetaId { home: Arc::as_ptr(pair) as usize, number: 0 },
            },
            Repr::Packed(block, number) => Block::meta(block, *number),
        }
    }
}

impl<'a> MetaRef<'a> {
    /// The canonical name without `meta:/`, as the storage formats write it.
    pub fn name(self) -> &'a [u8] {
        self.name
    }

    /// The value: text without NUL bytes.
    pub fn value(self) -> &'a [u8] {
        self.value
    }

    /// Whether both are the same metakey (not only equal).
    pub fn is_same(self, other: MetaRef<'_>) -> bool {
        self.id == other.id
    }
}

impl std::fmt::Debug for MetaRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = String::from_utf8_lossy;
        write!(f, "meta:/{}={:?}", text(self.name), text(self.value))
    }
}

impl std::fmt::Debug for MetaKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.borrow().fmt(f)
    }
}

/// The canonical name of a metakey, without `meta:/`.
pub(crate) fn canonical_name(name: &[u8]) -> Result<Vec<u8>, NameError> {
    let path = name.strip_prefix(b"meta:/").unwrap_or(name);
    name::validate_path(path)?;
    let mut canonical = Vec::with_capacity(path.len() + 1);
    name::canonicalise(&mut canonical, 0, path);
    if !canonical.is_empty() {
        canonical.remove(0);
    }
    Ok(canonical)
}

/// The order of metakeys by name.
pub(crate) fn compare_names(a: &[u8], b: &[u8]) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    name::compare_relative(a, b)
}
