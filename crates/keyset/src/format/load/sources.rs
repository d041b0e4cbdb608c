//! Finds the key that metadata is copied from. Usually it is the same as for the previous copy; an index of the
//! others is built only if it is not.

use std::collections::HashMap;

use super::Loader;

/// The source of a copied metakey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The key being read.
    Open,
    /// A finished entry.
    Entry(u32),
}

/// The finished entries, by unescaped name.
#[derive(Default)]
pub(crate) struct Sources {
    last: Option<(Box<[u8]>, u32)>,
    by_name: HashMap<Vec<u8>, u32>,
    indexed: u32,
}

impl Sources {
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Loader {
    /// The key whose stored name is `stored`.
    pub(super) fn find_source(&mut self, stored: &[u8]) -> Option<Source> {
        match &self.sources.last {
            Some((name, source)) if **name == *stored && self.ordered => {
                return Some(Source::Entry(*source));
            }
            _ => {}
        }
        let name = self.full_name(stored).ok()?;
        let open = self.current.open.then(|| self.current.entry());
        if self.missing == super::MissingSource::Ignore
            && open.is_some_and(|open| self.block.name_of(&open) == name.borrow())
        {
            return Some(Source::Open);
        }
        self.index_sources();
        let source = *self.sources.by_name.get(&name.unescaped())?;
        self.sources.last = Some((stored.into(), source));
        Some(Source::Entry(source))
    }

    fn index_sources(&mut self) {
        for at in self.sources.indexed..self.block.len() {
            self.sources.by_name.insert(self.block.name(at).unescaped(), at);
        }
        self.sources.indexed = self.block.len();
    }
}
