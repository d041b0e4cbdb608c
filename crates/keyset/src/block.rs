//! A loaded file: its bytes, and an index of the keys in them.
//!
//! Invariants: once finished, the entries are in key order and unique by name;
//! every span lies within `bytes` or `side`; every shared metakey points at its
//! origin in one step. A block never changes after that.

use std::sync::Arc;

use crate::meta::{MetaId, MetaRef};
use crate::name::{KeyName, NameRef};
use crate::value::ValueRef;

/// Bytes within a block: offsets past the end of `bytes` lie in `side`.
#[derive(Clone, Copy, Default)]
pub(crate) struct Span {
    pub(crate) at: u64,
    pub(crate) len: u32,
}

/// One key.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) name_at: u64,
    pub(crate) value_at: u64,
    pub(crate) name_len: u32,
    pub(crate) value_len: u32,
    pub(crate) meta_at: u32,
    pub(crate) meta_len: u32,
    pub(crate) flags: Flags,
}

/// What is known of an entry.
#[derive(Clone, Copy, Default)]
pub(crate) struct Flags {
    /// The name holds neither `\` nor `%`.
    pub(crate) plain: bool,
    /// The name is complete, not relative to the block's parent.
    pub(crate) complete: bool,
    pub(crate) binary: bool,
}

/// One metakey of a key.
#[derive(Clone, Copy)]
pub(crate) struct MetaEntry {
    /// An index into `meta_names`; the top bit marks an origin that others share.
    name: u32,
    /// The length of the value, or [`SHARED`].
    len: u32,
    /// Where the value lies, or the index of the shared metakey.
    at: u64,
}

const SHARED: u32 = u32::MAX;
const ORIGIN: u32 = 1 << 31;

impl MetaEntry {
    pub(crate) fn new(name: u32, value: Span) -> Self {
        Self { name, len: value.len, at: value.at }
    }

    pub(crate) fn name(self) -> u32 {
        self.name & !ORIGIN
    }
}

/// See the module.
pub(crate) struct Block {
    pub(crate) bytes: Arc<Vec<u8>>,
    /// Bytes that the file does not hold as they are meant.
    pub(crate) side: Vec<u8>,
    /// The parent's name with a slash at its end.
    head: Box<[u8]>,
    head_plain: bool,
    pub(crate) entries: Vec<Entry>,
    pub(crate) metas: Vec<MetaEntry>,
    pub(crate) meta_names: Vec<Span>,
    /// Whether any metakey is shared between keys of this block.
    pub(crate) sharing: bool,
}

impl Block {
    pub(crate) fn new(bytes: Arc<Vec<u8>>, parent: &KeyName) -> Self {
        let mut head = parent.without_root_slash().to_vec();
        head.push(b'/');
        Self {
            bytes,
            side: Vec::new(),
            head_plain: parent.borrow().plain,
            head: head.into(),
            entries: Vec::new(),
            metas: Vec::new(),
            meta_names: Vec::new(),
            sharing: false,
        }
    }

    pub(crate) fn len(&self) -> u32 {
        self.entries.len() as u32
    }

    /// The parent's name with a slash at its end.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    #[inline]
    pub(crate) fn slice(&self, span: Span) -> &[u8] {
        let (at, len) = (span.at as usize, span.len as usize);
        match at.checked_sub(self.bytes.len()) {
            None => &self.bytes[at..at + len],
            Some(at) => &self.side[at..at + len],
        }
    }

    /// Keeps bytes that the file does not hold.
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> Span {
        let at = (self.bytes.len() + self.side.len()) as u64;
        self.side.extend_from_slice(bytes);
        Span { at, len: bytes.len() as u32 }
    }

    pub(crate) fn name(&self, index: u32) -> NameRef<'_> {
        self.name_of(&self.entries[index as usize])
    }

    #[inline]
    pub(crate) fn name_of(&self, entry: &Entry) -> NameRef<'_> {
        let tail = self.slice(Span { at: entry.name_at, len: entry.name_len });
        if entry.flags.complete {
            return NameRef { head: &[], tail, plain: entry.flags.plain };
        }
        NameRef { head: self.head_for(tail), tail, plain: entry.flags.plain && self.head_plain }
    }

    /// The head, without its slash for the parent key itself.
    fn head_for(&self, tail: &[u8]) -> &[u8] {
        match &*self.head {
            head if !tail.is_empty() => head,
            [stem @ .., last, b'/'] if *last != b':' => &self.head[..stem.len() + 1],
            root => root,
        }
    }

    pub(crate) fn value(&self, index: u32) -> ValueRef<'_> {
        let entry = &self.entries[index as usize];
        let bytes = self.slice(Span { at: entry.value_at, len: entry.value_len });
        ValueRef::stored(bytes, entry.flags.binary)
    }

    pub(crate) fn meta_len(&self, index: u32) -> usize {
        self.entries[index as usize].meta_len as usize
    }

    /// The index of a key's metakey among all of the block.
    pub(crate) fn meta_index(&self, index: u32, at: usize) -> u32 {
        self.entries[index as usize].meta_at + at as u32
    }

    pub(crate) fn meta_name(&self, name: u32) -> &[u8] {
        self.slice(self.meta_names[name as usize])
    }

    /// The metakey that this one is or shares.
    pub(crate) fn origin(&self, index: u32) -> u32 {
        let entry = &self.metas[index as usize];
        if entry.len == SHARED { entry.at as u32 } else { index }
    }

    /// Whether keys of this block share this metakey.
    pub(crate) fn is_origin(&self, index: u32) -> bool {
        self.metas[index as usize].name & ORIGIN != 0
    }

    /// An entry that shares the metakey at `index`, which becomes an origin.
    pub(crate) fn share(&mut self, index: u32) -> MetaEntry {
        let origin = self.origin(index);
        let entry = &mut self.metas[origin as usize];
        entry.name |= ORIGIN;
        self.sharing = true;
        MetaEntry { name: entry.name(), len: SHARED, at: u64::from(origin) }
    }

    pub(crate) fn meta(block: &Arc<Self>, index: u32) -> MetaRef<'_> {
        let index = block.origin(index);
        let entry = &block.metas[index as usize];
        MetaRef {
            name: block.meta_name(entry.name()),
            value: block.slice(Span { at: entry.at, len: entry.len }),
            id: MetaId { home: Arc::as_ptr(block) as usize, index },
        }
    }
}
