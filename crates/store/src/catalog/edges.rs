//! Hints about paths, so that a whole path can be read at once.
//!
//! Invariant: remembered edges are hints and decide nothing. A caller who follows a hint reads the same edge on their
//! snapshot, and takes what the catalog says. So nothing has to be invalidated, and other servers may change a catalog that
//! they share; a wrong hint costs one more read.

use std::hash::Hash;

use quick_cache::sync::Cache;
use quick_cache::{Equivalent, UnitWeighter, Weighter};

use crate::model::{Name, ResourceId, StorePath};

/// Edges of the tree that were met lately; how many is bounded by their bytes.
#[derive(Debug)]
pub(crate) struct Edges {
    children: Cache<Edge, ResourceId, Size>,
    parents: Cache<ResourceId, ResourceId>,
}

/// The maximum memory for remembered names, including the data kept with each.
const MOST_BYTES: u64 = 8 << 20;
/// The approximate memory for an edge, without its name.
const EDGE_BYTES: u64 = 96;
/// So many parents are remembered: of as many resources as fit into [`MOST_BYTES`] with short names.
const MOST_PARENTS: u64 = 80_000;
/// Room that is made at first.
const FIRST: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Edge(ResourceId, Box<str>);

/// Looks an edge up without a copy of its name. It has the fields of [`Edge`], and so its hash.
#[derive(Hash)]
struct Looked<'a>(ResourceId, &'a str);

impl Equivalent<Edge> for Looked<'_> {
    fn equivalent(&self, edge: &Edge) -> bool {
        self.0 == edge.0 && *self.1 == *edge.1
    }
}

#[derive(Debug, Clone)]
struct Size;

impl Weighter<Edge, ResourceId> for Size {
    fn weight(&self, edge: &Edge, _: &ResourceId) -> u64 {
        EDGE_BYTES + edge.1.len() as u64
    }
}

impl Default for Edges {
    fn default() -> Self {
        Self {
            children: Cache::with_weighter(FIRST, MOST_BYTES, Size),
            parents: Cache::with_weighter(FIRST, MOST_PARENTS, UnitWeighter),
        }
    }
}

impl Edges {
    /// Remembers that a child of this name was met in a collection.
    pub(crate) fn remember(&self, parent: ResourceId, name: &Name, child: ResourceId) {
        self.children.insert(Edge(parent, name.as_str().into()), child);
    }

    /// Remembers in which collection a resource was met.
    pub(crate) fn remember_parent(&self, child: ResourceId, parent: ResourceId) {
        self.parents.insert(child, parent);
    }

    /// What `names` may lead to from a collection on, as far as it is remembered; the collection itself first.
    pub(crate) fn down(&self, from: ResourceId, names: &[Name]) -> Vec<ResourceId> {
        let mut ids = vec![from];
        for name in names.iter().take(StorePath::MAX_DEPTH) {
            let looked = Looked(ids[ids.len() - 1], name.as_str());
            match self.children.get(&looked) {
                Some(child) => ids.push(child),
                None => break,
            }
        }
        ids
    }

    /// The collections in which a resource may be, as far as they are remembered; itself first.
    pub(crate) fn up(&self, from: ResourceId) -> Vec<ResourceId> {
        let mut ids = vec![from];
        while ids.len() <= StorePath::MAX_DEPTH && ids[ids.len() - 1] != ResourceId::ROOT {
            match self.parents.get(&ids[ids.len() - 1]) {
                Some(parent) => ids.push(parent),
                None => break,
            }
        }
        ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(n: u64) -> Name {
        Name::trusted(format!("{n:01000}"))
    }

    #[test]
    fn the_hints_are_bounded() {
        let edges = Edges::default();
        for n in 0..20_000 {
            edges.remember(ResourceId(n), &name(n), ResourceId(n + 1));
        }
        for n in 0..200_000 {
            edges.remember_parent(ResourceId(n + 1), ResourceId(n));
        }
        assert!(edges.children.weight() <= MOST_BYTES);
        assert!(edges.parents.weight() <= MOST_PARENTS);
    }

    #[test]
    fn an_edge_is_found_without_a_copy_of_its_name() {
        let edges = Edges::default();
        edges.remember(ResourceId(1), &name(7), ResourceId(9));
        assert_eq!(edges.down(ResourceId(1), &[name(7)]), [ResourceId(1), ResourceId(9)]);
        assert_eq!(edges.down(ResourceId(2), &[name(7)]), [ResourceId(2)]);
    }

    #[test]
    fn a_cycle_of_wrong_hints_terminates() {
        let edges = Edges::default();
        edges.remember_parent(ResourceId(8), ResourceId(9));
        edges.remember_parent(ResourceId(9), ResourceId(8));
        assert!(edges.up(ResourceId(8)).len() <= StorePath::MAX_DEPTH + 1);
    }
}
