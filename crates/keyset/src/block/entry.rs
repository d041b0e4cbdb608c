//! The rows of a block's index: one per key, and one per metakey in the table.

/// A range of bytes in a block: offsets past the end of `bytes` are in `side`.
#[derive(Clone, Copy, Default)]
pub(crate) struct Span {
    pub(crate) at: u64,
    pub(crate) len: u32,
}

impl Span {
    pub(crate) fn end(self) -> u64 {
        self.at + u64::from(self.len)
    }
}

/// One key: 32 bytes.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    name_at: u64,
    value_at: u64,
    name_len: u32,
    value_len: u32,
    /// Where its metakeys start in the table; unused if they are stored.
    meta_at: u32,
    /// The number of its metakeys, in the bits below [`Flags`].
    meta_len_and_flags: u32,
}

/// Properties of an entry.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Flags(u32);

impl Flags {
    /// The name contains neither `\` nor `%`.
    pub(crate) const PLAIN: Self = Self(1 << 31);
    /// The name is complete, not relative to the block's parent.
    pub(crate) const COMPLETE: Self = Self(1 << 30);
    pub(crate) const BINARY: Self = Self(1 << 29);
    /// The metakeys are read from where they are stored, after the value.
    pub(crate) const STORED: Self = Self(1 << 28);
    /// The bits that are not flags.
    const REST: u32 = (1 << 28) - 1;

    pub(crate) fn with(self, flag: Self, on: bool) -> Self {
        if on { Self(self.0 | flag.0) } else { Self(self.0 & !flag.0) }
    }

    #[inline]
    pub(crate) fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }
}

impl Entry {
    pub(crate) const MAX_METAS: usize = Flags::REST as usize;

    pub(crate) fn new(name: Span, value: Span, meta_at: u32, metas: usize, flags: Flags) -> Self {
        Self {
            name_at: name.at,
            value_at: value.at,
            name_len: name.len,
            value_len: value.len,
            meta_at,
            meta_len_and_flags: metas as u32 & Flags::REST | flags.0,
        }
    }

    pub(crate) fn name(&self) -> Span {
        Span { at: self.name_at, len: self.name_len }
    }

    pub(crate) fn value(&self) -> Span {
        Span { at: self.value_at, len: self.value_len }
    }

    #[inline]
    pub(crate) fn has(&self, flag: Flags) -> bool {
        Flags(self.meta_len_and_flags).has(flag)
    }

    pub(crate) fn meta_at(&self) -> u32 {
        self.meta_at
    }

    pub(crate) fn meta_len(&self) -> usize {
        (self.meta_len_and_flags & Flags::REST) as usize
    }

    /// Records that the metakeys are in the table rather than stored.
    pub(crate) fn move_metas(&mut self, meta_at: u32) {
        self.meta_at = meta_at;
        self.meta_len_and_flags &= !Flags::STORED.0;
    }
}

/// One metakey of a key, in the table.
#[derive(Clone, Copy)]
pub(crate) struct MetaEntry {
    /// An index into `meta_names`; the top bit marks an origin that others share.
    pub(super) name: u32,
    /// The length of the value, or [`SHARED`].
    pub(super) len: u32,
    /// The offset of the value, or the index of the shared metakey.
    pub(super) at: u64,
}

pub(super) const SHARED: u32 = u32::MAX;
pub(super) const ORIGIN: u32 = 1 << 31;

impl MetaEntry {
    pub(crate) fn new(name: u32, value: Span) -> Self {
        Self { name, len: value.len, at: value.at }
    }

    pub(crate) fn name(self) -> u32 {
        self.name & !ORIGIN
    }
}
