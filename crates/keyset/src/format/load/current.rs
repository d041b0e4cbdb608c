//! The key that is being read.

use crate::block::{Entry, Flags, Span};

/// How the value was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    String,
    Binary,
    /// The metakey `binary` alone tells.
    Raw,
}

/// A key whose metakeys are still coming.
pub(crate) struct Current {
    pub(crate) name: Span,
    pub(crate) flags: Flags,
    pub(crate) kind: Kind,
    pub(crate) value: Span,
    pub(crate) meta_at: u32,
    pub(crate) meta_len: u32,
    /// How many of its metakeys are named as those of the key before.
    pub(crate) expected: usize,
    pub(crate) metas_ordered: bool,
    pub(crate) binary_meta: bool,
    /// The metakey `binary` was taken away by a copy from nowhere.
    pub(crate) binary_removed: bool,
}

impl Current {
    pub(crate) fn new(name: Span, flags: Flags, kind: Kind, value: Span, metas: usize) -> Self {
        Self {
            name,
            flags,
            kind,
            value,
            meta_at: metas as u32,
            meta_len: 0,
            expected: 0,
            metas_ordered: true,
            binary_meta: false,
            binary_removed: false,
        }
    }

    pub(crate) fn entry(&self) -> Entry {
        Entry {
            name_at: self.name.at,
            value_at: self.value.at,
            name_len: self.name.len,
            value_len: self.value.len,
            meta_at: self.meta_at,
            meta_len: self.meta_len,
            flags: self.flags,
        }
    }
}
