//! Takes over what the server says of names: one that was looked up, or all of a directory.
//!
//! Invariant: names are linked only if nothing was reported in their directory since they were requested, and a file that is being created through this
//! mount keeps its name.

use cenote_client::Resource;

use super::{Cache, Ino, Lookup, Node};
use crate::found::{Found, Listing};

impl Cache {
    /// Records the server's response for a name in a directory; returns whether nothing was reported since
    /// `generation`.
    pub(crate) fn learn(&mut self, parent: Ino, generation: u64, found: &Resource) -> (Ino, bool) {
        let current = self.generation(parent) == generation;
        let ino = self.place_found(parent, current, found.into());
        if current {
            self.note_put(ino, found);
        }
        (ino, current)
    }

    fn place_found(&mut self, parent: Ino, current: bool, found: Found) -> Ino {
        if let Lookup::Present(ino) = self.peek(parent, &found.name)
            && self.nodes.get(&ino).is_some_and(|node| node.id.is_none())
        {
            // A file being created through this mount.
            return ino;
        }
        self.place_stored(parent, current, found)
    }

    /// The same where no name is that of a file being created.
    fn place_stored(&mut self, parent: Ino, current: bool, mut found: Found) -> Ino {
        let name = std::mem::take(&mut found.name);
        let ino = self.upsert(parent, &name, found);
        if current {
            self.link(parent, name, ino);
        }
        ino
    }

    /// Takes over a whole listing. If something was reported since `generation`, the directory is not complete by that, and its names are returned
    /// instead.
    pub(crate) fn fill(
        &mut self,
        parent: Ino,
        generation: u64,
        found: Listing,
    ) -> Option<Vec<(String, Ino)>> {
        if self.generation(parent) != generation {
            let place = |found: Found| (found.name.clone(), self.place_found(parent, false, found));
            return Some(found.into_iter().flatten().map(place).collect());
        }
        let place = if self.keep_local(parent) { Self::place_found } else { Self::place_stored };
        let listed = self.listing_note(parent, &found);
        self.nodes.reserve(found.iter().map(Vec::len).sum());
        for found in found.into_iter().flatten() {
            place(self, parent, true, found);
        }
        if let Some(children) = self.children_mut(parent) {
            children.complete = true;
            self.note_listed(listed);
        }
        None
    }

    /// Forgets the names in a directory, but for those of files that are not in the store; returns whether there are any.
    fn keep_local(&mut self, dir: Ino) -> bool {
        let Some(children) = self.children_mut(dir) else { return false };
        let mut names = std::mem::take(&mut children.names);
        let is_local = |node: &Node| node.id.is_none() && !node.orphan;
        names.retain(|_, ino| self.nodes.get(ino).is_some_and(is_local));
        let kept = !names.is_empty();
        if let Some(children) = self.children_mut(dir) {
            children.names = names;
        }
        kept
    }
}
