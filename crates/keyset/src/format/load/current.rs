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
    /// Its metakeys are left where they are stored; else they are in the table.
    pub(crate) stored: bool,
    /// Where its metakeys start in the table.
    pub(crate) meta_at: u32,
    /// How many metakeys it has so far.
    pub(crate) metas: usize,
    /// How many of them are named as those of the key before.
    pub(crate) expected: usize,
    pub(crate) metas_ordered: bool,
    pub(crate) binary_meta: bool,
    /// The metakey `binary` was taken away by a copy from nowhere.
    pub(crate) binary_removed: bool,
    /// Where its record ends so far, if it is as a writer writes it.
    pub(crate) record_end: Option<u64>,
}

impl Current {
    pub(crate) fn new(name: Span, flags: Flags, kind: Kind, value: Span) -> Self {
        Self {
            name,
            flags,
            kind,
            value,
            stored: false,
            meta_at: 0,
            metas: 0,
            expected: 0,
            metas_ordered: true,
            binary_meta: false,
            binary_removed: false,
            record_end: None,
        }
    }

    pub(crate) fn entry(&self) -> Entry {
        let flags = self.flags.with(Flags::STORED, self.stored);
        Entry::new(self.name, self.value, self.meta_at, self.metas, flags)
    }
}
