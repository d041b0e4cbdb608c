//! Evicts nodes that have not been used for long, so that memory stays bounded however much of a store is walked.
//!
//! Invariant: a node with dependents is kept: one that is open, being written, or above a cached node. One that the
//! kernel has references to is dropped once the kernel has dropped them. The kernel is asked to drop files, but not
//! directories, since it would treat the working directory of a program as removed.

use super::{Cache, Ino, Lookup, Node, Origin, Stale};
use crate::attr::FileKind;

impl Cache {
    /// The node of a name, for a user of its directory.
    pub(crate) fn look_up(&mut self, dir: Ino, name: &str) -> Lookup {
        self.use_directory(dir);
        self.peek(dir, name)
    }

    /// Notes that a directory is used.
    pub(crate) fn use_directory(&mut self, dir: Ino) {
        self.uses += 1;
        let now = self.uses;
        if let Some(children) = self.children_mut(dir) {
            children.used = now;
        }
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Evicts a quarter of the nodes if there are too many, in the least recently used directories; returns what the
    /// kernel has to drop.
    pub(crate) fn evict(&mut self) -> Vec<Stale> {
        let staying = self.nodes.len() - self.leaving;
        if staying < self.limit {
            return Vec::new();
        }
        let (mut stale, mut missing, mut freed) = (Vec::new(), Vec::new(), 0);
        let enough = staying - (self.limit - self.limit / 4);
        for dir in self.least_used() {
            if freed >= enough {
                break;
            }
            missing.extend(self.forget_missing(dir));
            freed += self.evict_children(dir, &mut stale);
        }
        self.leaving += stale.len();
        stale.extend(missing);
        stale
    }

    fn least_used(&self) -> Vec<Ino> {
        let with_children = self.nodes.iter().filter(|(_, node)| !node.children.names.is_empty());
        let mut used: Vec<_> =
            with_children.map(|(ino, node)| (node.children.used, *ino)).collect();
        used.sort_unstable();
        used.into_iter().map(|(_, ino)| ino).collect()
    }

    /// Forgets the missing names of a directory, which the kernel may cache: it is not notified here of those that appear.
    fn forget_missing(&mut self, dir: Ino) -> impl Iterator<Item = Stale> + use<> {
        let absent = self.children_mut(dir).map(|children| std::mem::take(&mut children.absent));
        absent.into_iter().flatten().map(move |name| Stale::Entry(dir, name))
    }

    /// Evicts the nodes of a directory that can be requested again; returns how many.
    fn evict_children(&mut self, dir: Ino, stale: &mut Vec<Stale>) -> usize {
        let may_forget = |node: &&mut Node| node.opened == 0 && node.origin != Origin::Mount;
        let Some(children) = self.nodes.get_mut(&dir).filter(may_forget) else {
            return 0;
        };
        let children = &mut children.children;
        children.complete = false;
        let names: Vec<_> = children.names.iter().map(|(name, ino)| (name.clone(), *ino)).collect();
        let mut freed = 0;
        for (name, ino) in names {
            if self.is_top(ino) {
                continue;
            }
            let Some(node) = self.nodes.get_mut(&ino).filter(|node| node.is_spare()) else {
                continue;
            };
            match (node.lookups, node.attr.kind) {
                (0, _) => self.give_up(ino),
                (_, FileKind::Directory) => {
                    node.leaving = true;
                    continue;
                }
                _ if node.leaving => continue,
                _ => {
                    node.leaving = true;
                    stale.push(Stale::Entry(dir, name));
                }
            }
            freed += 1;
        }
        freed
    }

    /// The kernel has dropped a node that is to be evicted, unless it is needed again.
    pub(super) fn dropped(&mut self, ino: Ino) {
        if self.nodes.get(&ino).is_some_and(|node| node.leaving && node.is_spare()) {
            self.give_up(ino);
        }
    }

    /// The kernel has one more reference to a node.
    pub(crate) fn hold(&mut self, ino: Ino) {
        if let Some(node) = self.nodes.get_mut(&ino) {
            node.lookups += 1;
            self.leaving -= usize::from(node.is_drop_requested());
            node.leaving = false;
        }
    }

    pub(super) fn give_up(&mut self, ino: Ino) {
        let Some(node) = self.nodes.remove(&ino) else { return };
        self.replaced.remove(&ino);
        self.leaving -= usize::from(node.is_drop_requested());
        self.unlink(node.parent, &node.name, ino);
        let alias = node.id.map(|id| (node.tree, id));
        if let Some(alias) = alias.filter(|alias| self.aliases.get(alias) == Some(&ino)) {
            self.aliases.remove(&alias);
        }
    }
}

impl Node {
    /// Whether the kernel was asked to drop it.
    pub(super) fn is_drop_requested(&self) -> bool {
        self.leaving && self.attr.kind != FileKind::Directory
    }

    /// Whether nothing here depends on it.
    fn is_spare(&self) -> bool {
        let is_used = self.opened > 0 || self.publishing > 0 || self.dirty || self.orphan;
        self.id.is_some() && !is_used && self.children.names.is_empty()
    }
}
