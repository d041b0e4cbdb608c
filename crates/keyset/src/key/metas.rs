//! Iterating over the metakeys of a key.

use crate::block::BlockMetas;
use crate::meta::{MetaKey, MetaRef};

/// The metakeys of a key in order.
#[derive(Clone)]
pub struct MetaIter<'a>(pub(super) Metas<'a>);

#[derive(Clone)]
pub(super) enum Metas<'a> {
    Packed(BlockMetas<'a>),
    Owned(std::slice::Iter<'a, MetaKey>),
}

impl<'a> Iterator for MetaIter<'a> {
    type Item = MetaRef<'a>;

    #[inline]
    fn next(&mut self) -> Option<MetaRef<'a>> {
        match &mut self.0 {
            Metas::Packed(metas) => metas.next(),
            Metas::Owned(metas) => metas.next().map(MetaKey::borrow),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Metas::Packed(metas) => metas.size_hint(),
            Metas::Owned(metas) => metas.size_hint(),
        }
    }
}

impl ExactSizeIterator for MetaIter<'_> {}

impl std::fmt::Debug for MetaIter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}
