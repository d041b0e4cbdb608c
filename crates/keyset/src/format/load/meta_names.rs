//! The names of metakeys, each stored once. Most keys have the same metakeys as the previous key: those are found by
//! one comparison.

use std::collections::HashMap;

use crate::block::{Block, MetaEntry, Span};
use crate::meta::BINARY;

/// The names so far, and those of the last key in order.
#[derive(Default)]
pub(crate) struct MetaNames {
    by_stored: HashMap<Box<[u8]>, u32>,
    binary: Vec<bool>,
    /// The names of the last key whose metakeys were in order.
    template: Vec<u32>,
    /// The stored form of those metakeys, if it is exactly as a writer writes them.
    heads: Vec<Head>,
}

/// A stored metakey up to its value.
#[derive(Clone, Copy)]
pub(crate) struct Head {
    pub(crate) span: Span,
    pub(crate) value_len: u32,
    pub(crate) binary: bool,
}

impl MetaNames {
    /// The name, if it equals that of the previous key's metakey at this position.
    #[inline]
    pub(crate) fn expected(&self, block: &Block, at: usize, stored: &[u8]) -> Option<u32> {
        let name = *self.template.get(at)?;
        (block.meta_name(name) == stored).then_some(name)
    }

    /// Makes these metakeys, which are in order, the expected ones.
    pub(crate) fn expect(&mut self, metas: &[MetaEntry], heads: Vec<Head>) {
        self.template.clear();
        self.template.extend(metas.iter().map(|meta| meta.name()));
        self.heads = heads;
    }

    /// The stored form of the expected metakey at this position, if known.
    #[inline]
    pub(crate) fn head(&self, at: usize) -> Option<Head> {
        self.heads.get(at).copied()
    }

    pub(crate) fn find(&self, stored: &[u8]) -> Option<u32> {
        self.by_stored.get(stored).copied()
    }

    /// Adds a name whose stored form is `stored` and whose canonical form is at `span`.
    pub(crate) fn add(&mut self, block: &mut Block, stored: &[u8], span: Span) -> u32 {
        let name = block.meta_names.len() as u32;
        self.binary.push(block.slice(span) == BINARY);
        block.meta_names.push(span);
        self.by_stored.insert(stored.into(), name);
        name
    }

    #[inline]
    pub(crate) fn is_binary(&self, name: u32) -> bool {
        self.binary[name as usize]
    }
}
