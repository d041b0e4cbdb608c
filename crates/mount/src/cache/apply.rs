//! Takes changes that are reported by the server into account.

use std::time::SystemTime;

use cenote_client::{Change, ChangeKind};

use super::{Cache, Ino, Tree};

/// Something that the kernel must not cache any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stale {
    /// What a name leads to.
    Entry(Ino, String),
    /// The attributes of a node.
    Attr(Ino),
    /// The attributes and the content of a node.
    Content(Ino),
    /// Nothing more: this is all up to a position of the change feed.
    Reached(String),
}

impl Cache {
    /// Applies a reported change; returns what the kernel has to drop.
    pub(crate) fn apply(&mut self, change: &Change) -> Vec<Stale> {
        let trees = self.tops.len() as Tree;
        // If there are places, nothing outside of them is shown.
        let first = Tree::from(trees > 1);
        let mut stale: Vec<Stale> =
            (first..trees).flat_map(|tree| self.apply_in(tree, change)).collect();
        if change.kind == ChangeKind::Granted {
            stale.extend(self.withdraw_all());
        }
        stale
    }

    fn apply_in(&mut self, tree: Tree, change: &Change) -> Vec<Stale> {
        let ino = self.ino_of(tree, change.id);
        let own = self.report((tree, ino), change);
        match change.kind {
            ChangeKind::Created => self.created((tree, ino), change),
            ChangeKind::Written | ChangeKind::Described if own => Vec::new(),
            ChangeKind::Written => vec![self.rewritten(ino)],
            ChangeKind::Described => vec![Stale::Attr(ino)],
            ChangeKind::Granted => Vec::new(),
            ChangeKind::Moved => self.moved((tree, ino), change),
            ChangeKind::Removed => self.removed((tree, ino), change),
        }
    }

    /// Notes a revision; returns whether it is one that is known, or may be a change of this mount.
    fn report(&mut self, (tree, ino): (Tree, Ino), change: &Change) -> bool {
        let Some(node) = self.nodes.get_mut(&ino) else {
            // A listing in flight may contain its former state.
            self.changed_in(self.ino_of(tree, change.parent));
            return true;
        };
        let revision = change.revision;
        node.reported = node.reported.max(revision);
        let parent = node.parent;
        let own = node.publishing > 0 || node.is_fresh();
        if !own {
            self.changed_in(parent);
        }
        own
    }

    fn changed_in(&mut self, dir: Ino) {
        let listed = self.listed_with(dir);
        if let Some(children) = self.children_mut(listed) {
            children.generation += 1;
        }
    }

    fn created(&mut self, (tree, ino): (Tree, Ino), change: &Change) -> Vec<Stale> {
        let dir = self.ino_of(tree, change.parent);
        self.touch(dir, SystemTime::from(change.at));
        let Some(children) = self.children_mut(dir) else { return Vec::new() };
        children.generation += 1;
        match children.names.get(&change.name).copied() {
            Some(known) if known == ino => return Vec::new(),
            // A file being created through this mount.
            Some(known) if self.nodes.get(&known).is_some_and(|node| node.publishing > 0) => {
                return Vec::new();
            }
            _ => {}
        }
        self.appeared(dir, &change.name)
    }

    /// A name leads to something that is not known.
    fn appeared(&mut self, dir: Ino, name: &str) -> Vec<Stale> {
        let Some(children) = self.children_mut(dir) else { return Vec::new() };
        children.absent.remove(name);
        children.complete = false;
        let old = children.names.get(name).copied();
        if let Some(old) =
            old.filter(|old| self.nodes.get(old).is_some_and(|node| node.id.is_some()))
        {
            self.unlink(dir, name, old);
        }
        vec![Stale::Entry(dir, name.to_owned()), Stale::Attr(dir)]
    }

    fn moved(&mut self, (tree, ino): (Tree, Ino), change: &Change) -> Vec<Stale> {
        // A placed resource stays at its path, whatever its name in the store.
        let is_top = self.is_top(ino);
        let mut stale = if is_top { Vec::new() } else { self.renamed((tree, ino), change) };
        let stays = change.from.as_ref().is_some_and(|from| from.parent == change.parent);
        if !stays {
            stale.extend(self.doubt_moved(ino));
        }
        stale
    }

    fn renamed(&mut self, (tree, ino): (Tree, Ino), change: &Change) -> Vec<Stale> {
        let (dir, at) = (self.ino_of(tree, change.parent), SystemTime::from(change.at));
        let mut stale = Vec::new();
        let before = self.nodes.get(&ino).map(|node| (node.parent, node.name.clone()));
        if before.as_ref() == Some(&(dir, change.name.clone())) {
            return stale;
        }
        let from = change.from.as_ref();
        let from = from.map(|from| (self.ino_of(tree, from.parent), from.name.clone()));
        for (old, name) in [before, from].into_iter().flatten() {
            self.changed_in(old);
            self.touch(old, at);
            self.note_gone(old, &name, ino);
            if self.unlink(old, &name, ino) {
                stale.extend([Stale::Entry(old, name), Stale::Attr(old)]);
            }
        }
        self.changed_in(dir);
        self.touch(dir, at);
        stale.extend(self.appeared(dir, &change.name));
        if self.nodes.contains_key(&dir)
            && let Some(node) = self.nodes.get_mut(&ino)
        {
            (node.parent, node.name) = (dir, change.name.clone());
            if !self.numbered {
                self.link(dir, &change.name, ino);
                self.note_moved(ino);
            }
        }
        stale
    }

    fn removed(&mut self, (tree, ino): (Tree, Ino), change: &Change) -> Vec<Stale> {
        let dir = self.ino_of(tree, change.parent);
        self.touch(dir, SystemTime::from(change.at));
        self.changed_in(dir);
        if let Some(node) = self.nodes.get_mut(&ino).filter(|node| node.dirty) {
            // The draft is a new file from now on.
            (node.id, node.mode_set) = (None, true);
            self.aliases.remove(&(tree, change.id));
            return Vec::new();
        }
        if self.nodes.get(&ino).and_then(|node| node.id).is_some_and(|id| id != change.id) {
            // The data written here has been published as another object.
            return Vec::new();
        }
        let mut places = vec![(dir, change.name.clone())];
        places.extend(self.nodes.get(&ino).map(|node| (node.parent, node.name.clone())));
        let mut stale = Vec::new();
        for (dir, name) in places {
            self.note_gone(dir, &name, ino);
            if self.unlink(dir, &name, ino) {
                stale.extend([Stale::Entry(dir, name), Stale::Attr(dir)]);
            }
        }
        if let Some(node) = self.nodes.get_mut(&ino) {
            node.orphan = true;
        }
        self.forget(ino, 0);
        stale
    }
}
