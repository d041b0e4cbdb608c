//! Key sets: keys in order of their names, each name once.

mod hierarchy;
mod iter;
mod lookup;
mod pieces;
mod search;

use std::sync::Arc;

pub use self::hierarchy::RenameError;
pub use self::iter::Iter;
pub(crate) use self::iter::Stretch;
use self::pieces::Pieces;
use crate::block::Block;
use crate::key::{Key, KeyRef};
use crate::name::KeyName;

/// A set of keys, ordered and unique by name.
///
/// Clones share their contents until one of them changes, and even then all but the changed part.
#[derive(Clone, Default)]
pub struct KeySet {
    pieces: Arc<Pieces>,
}

impl KeySet {
    /// An empty key set.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn from_block(block: Block) -> Self {
        Self { pieces: Arc::new(Pieces::of_block(Arc::new(block))) }
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys in order.
    pub fn iter(&self) -> Iter<'_> {
        self.pieces.iter()
    }

    /// The keys in order, grouped by origin.
    pub(crate) fn stretches(&self) -> impl Iterator<Item = Stretch<'_>> {
        self.pieces.pieces().iter().map(Stretch)
    }

    /// The key at an index in the order (`ksAtCursor`).
    pub fn at(&self, index: usize) -> Option<KeyRef<'_>> {
        self.pieces.at(index)
    }

    /// The key of exactly this name; see [`KeySet::lookup`] for cascading.
    pub fn get(&self, name: &KeyName) -> Option<KeyRef<'_>> {
        self.pieces.find(name.borrow()).map(|at| self.pieces.key(at))
    }

    /// Adds a key, replacing one of the same name (`ksAppendKey`).
    pub fn append(&mut self, key: Key) {
        Arc::make_mut(&mut self.pieces).insert(key);
    }

    /// Adds all keys of another set, replacing those of the same names (`ksAppend`).
    pub fn append_all(&mut self, other: &Self) {
        if self.is_empty() {
            self.clone_from(other);
        } else {
            Arc::make_mut(&mut self.pieces).append(&other.pieces);
        }
    }

    /// Removes the key of exactly this name and returns it.
    pub fn remove(&mut self, name: &KeyName) -> Option<Key> {
        let at = self.pieces.locate(name.borrow()).ok()?;
        Some(Arc::make_mut(&mut self.pieces).remove(at))
    }
}

impl FromIterator<Key> for KeySet {
    fn from_iter<T: IntoIterator<Item = Key>>(keys: T) -> Self {
        let mut set = Self::new();
        set.extend(keys);
        set
    }
}

impl Extend<Key> for KeySet {
    fn extend<T: IntoIterator<Item = Key>>(&mut self, keys: T) {
        keys.into_iter().for_each(|key| self.append(key));
    }
}

impl<'a> IntoIterator for &'a KeySet {
    type Item = KeyRef<'a>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// Equal contents: names, values and metakeys; sharing is ignored.
impl PartialEq for KeySet {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl std::fmt::Debug for KeySet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
