//! The name list: chunk names in the order in which they were first written.
//!
//! A name's ordinal is its id in the index. Version 2 files store the names back to back, each terminated by a NUL;
//! version 1 files store each in a cell of 64 bytes. The first empty name ends the list, and the last byte of the
//! block is always NUL.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::header::{NAME_CELL, until_nul};

/// Ids are 16 bits and the largest means "absent".
const MAX_NAMES: usize = u16::MAX as usize;
/// Bytes of a version 1 name, without its NUL.
const V1_NAME: usize = NAME_CELL as usize - 1;

/// The chunk names of a file.
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: Vec<Arc<[u8]>>,
    /// The first id of each name: a damaged or old list may repeat one.
    ids: HashMap<Arc<[u8]>, u16>,
    committed: usize,
    /// Bytes of the block in use, and in all.
    used: u64,
    reserved: u64,
    v1: bool,
}

impl Names {
    /// Reads a name list block.
    pub(crate) fn decode(block: &[u8], v1: bool, location: u64) -> Result<Self> {
        if block.last() != Some(&0) {
            let end = location.saturating_add(block.len() as u64);
            return Err(Error::corrupt(end, "the name list does not end with a NUL"));
        }
        let mut list = Self { v1, ..Self::empty(block.len() as u64) };
        let mut at = 0;
        while let Some(name) = block.get(at..).map(until_nul).filter(|name| !name.is_empty()) {
            if list.names.len() == MAX_NAMES {
                return Err(Error::corrupt(location, "more than 65535 names"));
            }
            list.push(name.into());
            at += if v1 { NAME_CELL as usize } else { name.len() + 1 };
        }
        list.used = at as u64;
        list.committed = list.names.len();
        Ok(list)
    }

    /// The list of a fresh file, in a block of `reserved` bytes.
    pub(crate) fn empty(reserved: u64) -> Self {
        Self { reserved, ..Self::default() }
    }

    /// The names in the file, in the order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.names[..self.committed].iter().map(|name| &**name)
    }

    /// The names in the file that start with `prefix`, in the order of their ids.
    pub fn matching<'a>(&'a self, prefix: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        self.iter().filter(move |name| name.starts_with(prefix))
    }

    /// The name with this id.
    #[must_use]
    pub fn get(&self, id: u16) -> Option<&[u8]> {
        self.names.get(usize::from(id)).map(|name| &**name)
    }

    /// The id of a name. In version 1 files only its first 63 bytes count.
    #[must_use]
    pub fn id(&self, name: &[u8]) -> Option<u16> {
        self.ids.get(self.fitted(name)).copied()
    }

    /// How many names the file has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.committed
    }

    /// Whether the file has no name at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.committed == 0
    }

    /// The id of a name, which is added if it is new.
    pub(crate) fn intern(&mut self, name: &[u8]) -> Result<u16> {
        if let Some(id) = self.id(name) {
            return Ok(id);
        }
        if name.is_empty() {
            return Err(Error::InvalidArgument("a chunk needs a name"));
        }
        if name.contains(&0) {
            return Err(Error::InvalidArgument("a chunk name cannot contain NUL"));
        }
        if self.names.len() == MAX_NAMES {
            return Err(Error::NameListFull);
        }
        let id = self.names.len() as u16;
        self.push(self.fitted(name).into());
        Ok(id)
    }

    fn push(&mut self, name: Arc<[u8]>) {
        let id = self.names.len() as u16;
        self.ids.entry(Arc::clone(&name)).or_insert(id);
        self.names.push(name);
    }

    fn fitted<'a>(&self, name: &'a [u8]) -> &'a [u8] {
        if self.v1 { &name[..name.len().min(V1_NAME)] } else { name }
    }

    pub(crate) fn has_uncommitted(&self) -> bool {
        self.names.len() > self.committed
    }

    /// The bytes to write to commit the new names.
    pub(crate) fn pending_block(&self) -> NameBlock {
        let added = self.encode(self.committed);
        let needed = self.used + added.len() as u64;
        let reserved = grown(self.reserved, needed);
        let moved = reserved > self.reserved;
        let (offset, mut bytes) = if moved { (0, self.encode(0)) } else { (self.used, added) };
        bytes.resize((reserved - offset) as usize, 0);
        NameBlock { moved, offset, bytes, used: needed, reserved }
    }

    /// Records that [`Names::pending_block`] is on disk.
    pub(crate) fn commit(&mut self, block: &NameBlock) {
        self.used = block.used;
        self.reserved = block.reserved;
        self.committed = self.names.len();
    }

    /// The whole list in the layout of version 2, in a block of unchanged size.
    pub(crate) fn upgraded(&self) -> (Self, Vec<u8>) {
        let mut list = Self { v1: false, ..self.clone() };
        let mut bytes = list.encode(0);
        list.used = bytes.len() as u64;
        bytes.resize(list.reserved as usize, 0);
        (list, bytes)
    }

    fn encode(&self, from: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for name in &self.names[from..] {
            bytes.extend_from_slice(name);
            let padding = if self.v1 { NAME_CELL as usize - name.len() } else { 1 };
            bytes.resize(bytes.len() + padding, 0);
        }
        bytes
    }
}

/// The size of the block once it holds `needed` bytes: doubled until there is more than enough.
///
/// A block that is exactly full does not grow, but a doubled block that would be exactly full is doubled again.
fn grown(reserved: u64, needed: u64) -> u64 {
    if needed <= reserved {
        return reserved;
    }
    let mut new = reserved * 2;
    while needed >= new {
        new *= 2;
    }
    new
}

/// A write to the name list block.
#[derive(Debug)]
pub(crate) struct NameBlock {
    /// Whether the block no longer fits in its location, and `bytes` are the whole of a new one.
    pub(crate) moved: bool,
    /// Where in the block `bytes` start.
    pub(crate) offset: u64,
    pub(crate) bytes: Vec<u8>,
    used: u64,
    reserved: u64,
}

impl NameBlock {
    pub(crate) fn cells(&self) -> u64 {
        self.reserved / NAME_CELL
    }
}
