//! The tree according to a journal.
//!
//! Invariant: a directory is complete if it was listed; it then consists of the listed entries, with the changes
//! recorded since.

use std::collections::{HashMap, VecDeque};

use super::note::{Note, ResourceState};

/// The last known state of the tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    pub(crate) root: Option<(ResourceState, String)>,
    pub(crate) position: Option<String>,
    pub(super) dirs: HashMap<u64, Dir>,
}

/// The cached state of a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Dir {
    /// Whether all names are known.
    pub(crate) complete: bool,
    pub(crate) names: HashMap<String, ResourceState>,
}

impl Tree {
    /// Reads a journal; lines that are not whole are skipped.
    pub(super) fn read(journal: &[u8]) -> Self {
        let mut tree = Self::default();
        let notes = journal.split(|byte| *byte == b'\n').filter_map(Note::decode);
        notes.for_each(|note| tree.apply(note));
        tree
    }

    /// The same, if it is of the collection that a note is about.
    pub(super) fn if_of(self, root: &Note) -> Self {
        let same = |(state, created): &(ResourceState, String)| matches!(root, Note::Root(other, when) if other.id == state.id && when == created);
        if self.root.as_ref().is_some_and(same) { self } else { Self::default() }
    }

    fn apply(&mut self, note: Note) {
        match note {
            Note::Root(root, created) => self.root = Some((root, created)),
            Note::Listed(dir, names) => {
                let names = names.into_iter().collect();
                self.dirs.insert(dir, Dir { complete: true, names });
            }
            Note::Put(dir, name, state) => {
                self.dirs.entry(dir).or_default().names.insert(name, state);
            }
            Note::Gone(dir, name, id) => {
                let names = self.dirs.get_mut(&dir).map(|dir| &mut dir.names);
                if let Some(names) =
                    names.filter(|names| names.get(&name).is_some_and(|it| it.id == id))
                {
                    names.remove(&name);
                }
            }
            Note::Below(id) => self.forget_below(id),
            Note::Clear => self.dirs.clear(),
            Note::Reached(position) => self.position = Some(position),
        }
    }

    fn forget_below(&mut self, id: u64) {
        let mut next = vec![id];
        while let Some(id) = next.pop() {
            let names = self.dirs.remove(&id).map(|dir| dir.names).unwrap_or_default();
            next.extend(names.values().filter(|it| it.is_directory()).map(|it| it.id));
        }
    }

    /// Takes the directories from this one down, those above before those below, each once.
    pub(crate) fn walk(mut self, root: u64) -> impl Iterator<Item = (u64, Dir)> {
        let mut next = VecDeque::from([root]);
        std::iter::from_fn(move || {
            loop {
                let id = next.pop_front()?;
                if let Some(dir) = self.dirs.remove(&id) {
                    next.extend(dir.names.values().filter(|it| it.is_directory()).map(|it| it.id));
                    return Some((id, dir));
                }
            }
        })
    }

    /// The tree as a journal of at most `limit` bytes, without unreachable nodes: directories near the root take
    /// precedence.
    pub(super) fn journal(self, limit: usize) -> Vec<u8> {
        let mut journal = Vec::new();
        let Some((root, created)) = self.root.clone() else { return journal };
        let (id, position) = (root.id, self.position.clone().map(Note::Reached));
        for note in std::iter::once(Note::Root(root, created)).chain(position) {
            journal.extend(note.encode());
        }
        for (id, dir) in self.walk(id) {
            let lines: Vec<u8> = dir.notes(id).flat_map(|note| note.encode()).collect();
            if journal.len() + lines.len() <= limit {
                journal.extend(lines);
            }
        }
        journal
    }
}

impl Dir {
    fn notes(self, id: u64) -> Box<dyn Iterator<Item = Note>> {
        match self.complete {
            true => Box::new(std::iter::once(Note::Listed(id, self.names.into_iter().collect()))),
            false => Box::new(
                self.names.into_iter().map(move |(name, state)| Note::Put(id, name, state)),
            ),
        }
    }
}
