//! The key being read.

use crate::block::{Entry, Flags, Span};

/// How the value was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    String,
    Binary,
    /// Determined by the metakey `binary` alone.
    Raw,
}

/// A key whose metakeys are still being read. It is modified in place: moving it would stall on what was just written
/// to it.
pub(crate) struct Current {
    /// Whether there is one; false while the metakeys of an invalid name are skipped.
    pub(crate) open: bool,
    pub(crate) name: Span,
    pub(crate) flags: Flags,
    pub(crate) kind: Kind,
    pub(crate) value: Span,
    /// Whether its metakeys are left where they are stored; otherwise they are in the table.
    pub(crate) stored: bool,
    /// Where its metakeys start in the table.
    pub(crate) meta_at: u32,
    /// How many metakeys it has so far.
    pub(crate) metas: usize,
    /// How many of them have the same names as those of the previous key.
    pub(crate) expected: usize,
    pub(crate) metas_ordered: bool,
    pub(crate) binary_meta: bool,
    /// Whether the metakey `binary` was removed by a copy from a missing source.
    pub(crate) binary_removed: bool,
    /// The end of its record so far, if it is exactly as a writer writes it.
    pub(crate) record_end: Option<u64>,
}

impl Current {
    pub(crate) fn none() -> Self {
        Self {
            open: false,
            name: Span::default(),
            flags: Flags::default(),
            kind: Kind::Raw,
            value: Span::default(),
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

    /// Starts a key without metakeys.
    #[inline]
    pub(crate) fn begin(&mut self, name: Span, flags: Flags, kind: Kind, value: Span) {
        self.open = true;
        self.name = name;
        self.flags = flags;
        self.kind = kind;
        self.value = value;
        self.metas = 0;
        self.expected = 0;
        self.metas_ordered = true;
        self.binary_meta = false;
        self.binary_removed = false;
        self.record_end = None;
    }

    #[inline]
    pub(crate) fn entry(&self) -> Entry {
        let flags = self.flags.with(Flags::STORED, self.stored);
        Entry::new(self.name, self.value, self.meta_at, self.metas, flags)
    }
}
