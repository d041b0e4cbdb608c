//! The record of the cached tree on the local disk, and a cache that is loaded from it.

use cenote_client::Resource;

use super::{Cache, Ino, Node, ROOT};
use crate::attr::Attr;
use crate::found::{Found, Listing};
use crate::journal::{Note, ResourceState, Tree};

impl Cache {
    /// What was seen by an earlier mount; none, if nothing was.
    pub(crate) fn restored(root_path: &str, mut tree: Tree, limit: usize) -> Option<Self> {
        let (root, _) = tree.root.take()?;
        let mut cache = Self::new(root_path, (root.id, root.attr()), limit);
        for (id, dir) in tree.walk(root.id) {
            let parent = cache.ino_of(0, id);
            for (name, state) in dir.names {
                if cache.len() == limit {
                    return Some(cache);
                }
                cache.restore(parent, &name, &state);
            }
            if let Some(children) = cache.children_mut(parent) {
                children.complete = dir.complete;
            }
        }
        Some(cache)
    }

    fn restore(&mut self, parent: Ino, name: &str, state: &ResourceState) {
        if self.nodes.contains_key(&self.ino_of(0, state.id)) {
            // It was known in two places, but is in only one.
            return;
        }
        let mut node = Node::new((0, parent), name, state.attr());
        node.id = Some(state.id);
        self.nodes.insert(state.id, node);
        self.link(parent, name, state.id);
    }

    /// Begins to record the tree.
    pub(crate) fn note_from_now_on(&mut self) {
        self.notes.get_or_insert_default();
    }

    /// What was learned since the last call.
    pub(crate) fn take_notes(&mut self) -> Vec<Note> {
        self.notes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Adds records for nodes that are not known here.
    pub(crate) fn note_all(&mut self, more: Vec<Note>) {
        if let Some(notes) = &mut self.notes {
            notes.extend(more);
        }
    }

    fn note(&mut self, note: impl FnOnce(&Self) -> Option<Note>) {
        if self.notes.is_some()
            && let Some(note) = note(self)
            && let Some(notes) = &mut self.notes
        {
            notes.push(note);
        }
    }

    fn id_of(&self, ino: Ino) -> Option<u64> {
        self.nodes.get(&ino)?.id
    }

    pub(super) fn note_put(&mut self, ino: Ino, found: &Resource) {
        self.note(|cache| {
            let node = cache.nodes.get(&ino).filter(|node| ino != ROOT && !node.orphan)?;
            let state = ResourceState::new(found.id, &Attr::of(found));
            Some(Note::Put(cache.id_of(node.parent)?, node.name.clone(), state))
        });
    }

    /// The same for known nodes, at their current location.
    pub(super) fn note_moved(&mut self, ino: Ino) {
        self.note(|cache| {
            let node = cache.nodes.get(&ino).filter(|node| !node.orphan && node.is_certain())?;
            let state = ResourceState::new(node.id?, &node.attr);
            Some(Note::Put(cache.id_of(node.parent)?, node.name.clone(), state))
        });
    }

    /// What to note of a listing, if anything is noted.
    pub(super) fn listing_note(&self, dir: Ino, found: &Listing) -> Option<Note> {
        self.notes.as_ref()?;
        let name = |found: &Found| (found.name.clone(), ResourceState::new(found.id, &found.attr));
        let names = found.iter().flatten().map(name);
        Some(Note::Listed(self.id_of(dir)?, names.collect()))
    }

    pub(super) fn note_listed(&mut self, listed: Option<Note>) {
        self.note(|_| listed);
    }

    pub(super) fn note_gone(&mut self, dir: Ino, name: &str, ino: Ino) {
        // An unknown node may have been seen by an earlier mount, under its id.
        self.note(|cache| {
            let (dir, id) = (cache.id_of(dir).unwrap_or(dir), cache.id_of(ino).unwrap_or(ino));
            Some(Note::Gone(dir, name.to_owned(), id))
        });
    }

    /// What is below a resource may not be shown any more.
    pub(super) fn note_below(&mut self, ino: Ino) {
        self.note(|cache| Some(Note::Below(cache.id_of(ino).unwrap_or(ino))));
    }

    pub(super) fn note_clear(&mut self) {
        self.note(|_| Some(Note::Clear));
    }
}
