//! What is known, and may not be shown before it was requested again: rights have changed, or changes were missed.
//!
//! Invariant: no name or attribute that is doubted is answered from here, nor recorded on the local disk.

use super::apply::Stale;
use super::{Cache, Ino, Origin, ROOT};

impl Cache {
    /// No cached data may be shown before it was requested again.
    pub(crate) fn withdraw_all(&mut self) -> Vec<Stale> {
        self.note_clear();
        self.doubt_all()
    }

    /// Nothing that is known can be relied on.
    pub(crate) fn doubt_all(&mut self) -> Vec<Stale> {
        let all: Vec<Ino> = self.nodes.keys().copied().collect();
        let mut stale = Vec::new();
        for ino in all {
            stale.extend(self.doubt(ino));
            let named = self.nodes.get(&ino).filter(|node| node.origin != Origin::Mount);
            let named = named.filter(|_| ino != ROOT);
            stale.extend(named.map(|node| Stale::Entry(node.parent, node.name.clone())));
        }
        stale
    }

    /// A resource is in another collection, from which it and everything below inherit other rights. Names that lead to something are not
    /// dropped by the kernel, since programs can be in these directories: their attributes are requested again.
    pub(super) fn doubt_moved(&mut self, top: Ino) -> Vec<Stale> {
        self.note_below(top);
        let mut moved = self.below(top);
        // Where the resources of these are now is known by the id only.
        moved.extend(&self.replaced);
        moved.into_iter().flat_map(|ino| self.doubt(ino)).collect()
    }

    /// A node, and all that is known below it.
    fn below(&self, top: Ino) -> Vec<Ino> {
        let (mut found, mut at) = (vec![top], 0);
        while let Some(ino) = found.get(at) {
            let children = self.nodes.get(ino).map(|node| node.children.names.values().copied());
            let children: Vec<Ino> = children.into_iter().flatten().collect();
            found.extend(children);
            at += 1;
        }
        found
    }

    /// What is known of one node is requested again; names that were missing there may be there.
    fn doubt(&mut self, ino: Ino) -> Vec<Stale> {
        let Some(node) = self.nodes.get_mut(&ino).filter(|node| node.origin != Origin::Mount)
        else {
            return Vec::new();
        };
        (node.doubtful, node.may_create, node.may_write) = (node.id.is_some(), false, None);
        node.children.complete = false;
        node.children.generation += 1;
        let absent = std::mem::take(&mut node.children.absent);
        let mut names = std::mem::take(&mut node.children.names);
        names.retain(|_, child| self.nodes.get(child).is_some_and(|child| child.id.is_none()));
        if let Some(children) = self.children_mut(ino) {
            children.names = names;
        }
        let absent = absent.into_iter().map(|name| Stale::Entry(ino, name));
        std::iter::once(Stale::Content(ino)).chain(absent).collect()
    }
}
