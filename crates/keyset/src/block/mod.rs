//! A loaded file: its bytes, and an index of the keys in them.
//!
//! Invariants: once finished, the entries are in key order and unique by name; every span is within `bytes` or
//! `side`; metakeys that are read from where they are stored have been read successfully when the file was loaded;
//! every shared metakey refers to its origin directly. A block never changes after that.

mod entry;

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

pub(crate) use self::entry::{Entry, Flags, MetaEntry, Span};
use self::entry::{ORIGIN, SHARED};
use crate::format::layout::{Layout, StoredMeta};
use crate::meta::{MetaId, MetaRef};
use crate::name::{KeyName, NameRef};
use crate::name_index::NameIndex;
use crate::value::ValueRef;

/// Marks the number of a stored metakey: the rest is its offset.
const STORED: u64 = 1 << 63;

/// A loaded file; see the module.
pub(crate) struct Block {
    pub(crate) bytes: Bytes,
    /// Bytes that are in the file only in encoded form.
    pub(crate) side: Vec<u8>,
    /// The layout of the file's records.
    pub(crate) layout: Layout,
    /// The end of the last key's record, if all records are exactly as a writer writes them, in order and without gaps.
    pub(crate) verbatim: Option<u64>,
    /// The parent's name, with a trailing slash.
    head: Box<[u8]>,
    head_plain: bool,
    /// Whether the parent is a root, whose name keeps its slash.
    head_is_root: bool,
    pub(crate) entries: Vec<Entry>,
    pub(crate) metas: Vec<MetaEntry>,
    pub(crate) meta_names: Vec<Span>,
    /// Whether any metakey is shared between keys of this block.
    pub(crate) sharing: bool,
    /// Whether all names are plain and relative, so that names are equal if and only if their bytes are.
    pub(crate) uniform: bool,
    index: NameIndex,
}

impl Block {
    pub(crate) fn new(bytes: Bytes, parent: &KeyName, layout: Layout) -> Self {
        let mut head = parent.without_root_slash().to_vec();
        head.push(b'/');
        Self {
            bytes,
            side: Vec::new(),
            layout,
            verbatim: None,
            head_plain: parent.borrow().plain,
            head_is_root: parent.is_root(),
            head: head.into(),
            entries: Vec::new(),
            metas: Vec::new(),
            meta_names: Vec::new(),
            sharing: false,
            uniform: false,
            index: NameIndex::default(),
        }
    }

    pub(crate) fn len(&self) -> u32 {
        self.entries.len() as u32
    }

    /// The parent's name, with a trailing slash.
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

    /// Stores bytes that are not in the file.
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
        let tail = self.slice(entry.name());
        let plain = entry.has(Flags::PLAIN);
        if entry.has(Flags::COMPLETE) {
            return NameRef { head: &[], tail, plain };
        }
        NameRef { head: self.head_for(tail), tail, plain: plain && self.head_plain }
    }

    /// The head, without its slash for the parent key itself.
    fn head_for(&self, tail: &[u8]) -> &[u8] {
        let is_whole = !tail.is_empty() || self.head_is_root;
        if is_whole { &self.head } else { &self.head[..self.head.len() - 1] }
    }

    /// Whether all names are plain and relative.
    pub(crate) fn is_uniform(&self) -> bool {
        let is_plain = |entry: &Entry| entry.has(Flags::PLAIN) && !entry.has(Flags::COMPLETE);
        self.head_plain && self.entries.iter().all(is_plain)
    }

    /// The entry of this name, if there is a quick way to find it.
    pub(crate) fn find(&self, name: NameRef<'_>) -> Option<Option<u32>> {
        let tail = name.tail_below(&self.head).filter(|_| self.uniform && name.plain)?;
        let name_of = |index: u32| self.slice(self.entries[index as usize].name());
        self.index.find(tail, self.entries.len(), name_of)
    }

    pub(crate) fn value(&self, index: u32) -> ValueRef<'_> {
        let entry = &self.entries[index as usize];
        ValueRef::stored(self.slice(entry.value()), entry.has(Flags::BINARY))
    }

    pub(crate) fn meta_name(&self, name: u32) -> &[u8] {
        self.slice(self.meta_names[name as usize])
    }

    /// The index of the origin of this metakey in the table, which may be itself.
    pub(crate) fn origin(&self, index: u32) -> u32 {
        let entry = &self.metas[index as usize];
        if entry.len == SHARED { entry.at as u32 } else { index }
    }

    /// Whether keys of this block share this metakey.
    pub(crate) fn is_origin(&self, number: u64) -> bool {
        number & STORED == 0 && self.metas[number as usize].name & ORIGIN != 0
    }

    /// An entry that shares the metakey at `index`, which becomes an origin.
    pub(crate) fn share(&mut self, index: u32) -> MetaEntry {
        let origin = self.origin(index);
        let entry = &mut self.metas[origin as usize];
        entry.name |= ORIGIN;
        self.sharing = true;
        MetaEntry { name: entry.name(), len: SHARED, at: u64::from(origin) }
    }

    /// The metakey with this number, as in [`MetaId`].
    pub(crate) fn meta(block: &Arc<Self>, number: u64) -> MetaRef<'_> {
        if number & STORED != 0 {
            return block.stored_meta(number & !STORED).0;
        }
        let index = block.origin(number as u32);
        let entry = &block.metas[index as usize];
        MetaRef {
            name: block.meta_name(entry.name()),
            value: block.slice(Span { at: entry.at, len: entry.len }),
            id: MetaId { home: block.home(), number: u64::from(index) },
        }
    }

    /// Distinguishes the metakeys of this block from those of others.
    fn home(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// The metakey stored at an offset, and the offset of the next one.
    #[inline]
    fn stored_meta(&self, at: u64) -> (MetaRef<'_>, u64) {
        let StoredMeta { name, value, next, .. } =
            self.layout.meta(&self.bytes, at).expect("it could be read when the file was loaded");
        let id = MetaId { home: self.home(), number: at | STORED };
        (MetaRef { name, value, id }, next)
    }

    /// The records of the keys in a range of indices, if they are exactly as a writer of this layout writes them.
    pub(crate) fn records(&self, layout: Layout, from: u32, to: u32) -> Option<&[u8]> {
        let file_end = self.verbatim.filter(|_| self.layout == layout)?;
        self.bytes.get(self.record(from, file_end) as usize..self.record(to, file_end) as usize)
    }

    /// The offset of a key's record, in a file of such records.
    fn record(&self, index: u32, file_end: u64) -> u64 {
        let Some(entry) = self.entries.get(index as usize) else { return file_end };
        let (name, value) = (entry.name(), entry.value());
        name.at - self.layout.before_name(entry.has(Flags::BINARY), name.len, value.len)
    }

    /// The ids of the metakeys of the keys in a range of indices, in a file whose records can be copied: those are in
    /// order and share none.
    pub(crate) fn meta_ids(&self, from: u32, to: u32) -> [Range<MetaId>; 2] {
        let file_end = self.bytes.len() as u64;
        let table = |index: u32| match self.entries.get(index as usize) {
            Some(entry) => u64::from(entry.meta_at()),
            None => self.metas.len() as u64,
        };
        let stored = |index: u32| self.record(index, file_end) | STORED;
        let id = |number: u64| MetaId { home: self.home(), number };
        [id(table(from))..id(table(to)), id(stored(from))..id(stored(to))]
    }

    /// The metakeys of a key in order.
    pub(crate) fn metas(block: &Arc<Self>, index: u32) -> BlockMetas<'_> {
        let entry = &block.entries[index as usize];
        let next = if entry.has(Flags::STORED) {
            block.layout.metas_after(entry.value().end()) | STORED
        } else {
            u64::from(entry.meta_at())
        };
        BlockMetas { block, next, left: entry.meta_len() }
    }
}

/// The metakeys of a key in a block.
#[derive(Clone)]
pub(crate) struct BlockMetas<'a> {
    block: &'a Arc<Block>,
    next: u64,
    left: usize,
}

impl<'a> Iterator for BlockMetas<'a> {
    type Item = MetaRef<'a>;

    #[inline]
    fn next(&mut self) -> Option<MetaRef<'a>> {
        self.left = self.left.checked_sub(1)?;
        if self.next & STORED == 0 {
            self.next += 1;
            return Some(Block::meta(self.block, self.next - 1));
        }
        let (meta, next) = self.block.stored_meta(self.next & !STORED);
        self.next = next | STORED;
        Some(meta)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}
