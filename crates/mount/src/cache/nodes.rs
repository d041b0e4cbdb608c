//! The nodes by their numbers.
//!
//! Invariant: each has memory of its own. A table has room for up to twice as many entries as it has, and is copied when it grows, so its entries have
//! to be small.

use std::collections::HashMap;

use super::{Ino, Node};

/// All nodes.
#[derive(Debug)]
pub(super) struct Nodes(HashMap<Ino, Box<Node>>);

impl Nodes {
    pub(super) fn with_root(root: (Ino, Node)) -> Self {
        Self(HashMap::from([(root.0, Box::new(root.1))]))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn reserve(&mut self, more: usize) {
        self.0.reserve(more);
    }

    pub(super) fn contains_key(&self, ino: &Ino) -> bool {
        self.0.contains_key(ino)
    }

    pub(super) fn get(&self, ino: &Ino) -> Option<&Node> {
        self.0.get(ino).map(|node| &**node)
    }

    pub(super) fn get_mut(&mut self, ino: &Ino) -> Option<&mut Node> {
        self.0.get_mut(ino).map(|node| &mut **node)
    }

    pub(super) fn insert(&mut self, ino: Ino, node: Node) {
        self.0.insert(ino, Box::new(node));
    }

    pub(super) fn remove(&mut self, ino: &Ino) -> Option<Node> {
        self.0.remove(ino).map(|node| *node)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &Ino> {
        self.0.keys()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Ino, &Node)> {
        self.0.iter().map(|(ino, node)| (ino, &**node))
    }
}
