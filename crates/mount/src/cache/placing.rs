//! The directories of the mount itself, and the places below them.
//!
//! Invariant: a directory of the mount itself is known completely, and changes only if a placed resource is
//! removed.

use std::time::SystemTime;

use cenote_client::Resource;

use super::{Cache, FileKind, Ino, Lookup, Node, Origin, ROOT, Tree, stale};
use crate::attr::Attr;
use crate::error::{Fault, Result};
use crate::layout::{Folder, Placed};

/// The top of a tree.
#[derive(Debug)]
pub(crate) struct Top {
    pub(super) ino: Ino,
    /// Its path in the store when the mount began.
    pub(super) path: String,
    write: bool,
    folder: Option<Folder>,
}

impl Top {
    pub(super) fn root(path: &str) -> Self {
        Self { ino: ROOT, path: path.to_owned(), write: true, folder: None }
    }
}

impl Cache {
    /// A cache with a tree for each place.
    pub(crate) fn placed(places: &[(Placed, Resource)], now: SystemTime, limit: usize) -> Self {
        let mut cache = Self::new("/", (0, directory(now)), limit);
        cache.aliases.clear();
        let root = cache.nodes.get_mut(&ROOT);
        root.into_iter().for_each(own);
        places.iter().for_each(|(place, found)| cache.place_at(place, found));
        cache
    }

    fn place_at(&mut self, place: &Placed, found: &Resource) {
        let mut names: Vec<&str> = place.at.split('/').filter(|name| !name.is_empty()).collect();
        let Some(name) = names.pop() else { return };
        let parent = names.into_iter().fold(ROOT, |dir, name| self.directory_in(dir, name));
        let tree = self.tops.len() as Tree;
        let ino = self.ino_of(tree, found.id);
        let mut node = Node::new((tree, parent), name, Attr::of(found));
        node.id = Some(found.id);
        node.note_rights(found.level.as_deref());
        let (write, folder) = (place.write, place.folder.clone());
        self.tops.push(Top { ino, path: found.path.clone(), write, folder });
        self.nodes.insert(ino, node);
        self.link(parent, name, ino);
    }

    /// A directory of the mount itself.
    fn directory_in(&mut self, parent: Ino, name: &str) -> Ino {
        if let Lookup::Present(ino) = self.peek(parent, name) {
            return ino;
        }
        let attr = self.nodes.get(&parent).map(|node| node.attr.clone());
        let ino =
            self.create(parent, name, attr.unwrap_or_else(|| directory(SystemTime::UNIX_EPOCH)));
        self.nodes.get_mut(&ino).into_iter().for_each(own);
        ino
    }

    pub(super) fn top_of(&self, ino: Ino) -> Result<&Top> {
        self.tops.get(self.node(ino)?.tree as usize).ok_or_else(stale)
    }

    /// Whether a node is the top of a tree.
    pub(crate) fn is_top(&self, ino: Ino) -> bool {
        self.top_of(ino).map_or(ino == ROOT, |top| top.ino == ino)
    }

    /// Refuses changes at a place that is only read.
    pub(crate) fn require_changeable(&self, ino: Ino) -> Result<()> {
        match self.top_of(ino)?.write {
            true => Ok(()),
            false => Err(Fault::new(libc::EACCES, "this place is read-only")),
        }
    }

    /// Refuses a directory whose names are those of places, so that none is created, removed or moved
    /// there.
    pub(crate) fn require_names(&self, dir: Ino) -> Result<()> {
        match self.node(dir)?.origin {
            Origin::Mount => Err(Fault::new(libc::EPERM, "a place of the mount stays where it is")),
            _ => self.require_changeable(dir),
        }
    }

    /// The folder of a project that a directory is.
    pub(crate) fn folder(&self, dir: Ino) -> Result<Option<Folder>> {
        let top = self.top_of(dir)?;
        let Some(base) = &top.folder else { return Ok(None) };
        let (mut names, mut at) = (Vec::new(), dir);
        while at != top.ino {
            let node = self.node(at)?;
            if node.origin == Origin::Store {
                names.push(node.name.as_str());
            }
            at = node.parent;
        }
        let path =
            names.iter().rev().fold(base.path.clone(), |at, name| crate::source::join(&at, name));
        Ok(Some(Folder { project: base.project.clone(), path }))
    }
}

/// Makes a node a directory of the mount itself.
fn own(node: &mut Node) {
    (node.id, node.origin, node.children.complete) = (None, Origin::Mount, true);
}

/// The attributes of a directory of the mount itself.
fn directory(now: SystemTime) -> Attr {
    Attr {
        kind: FileKind::Directory,
        size: 4096,
        mode: 0o555,
        links: 1,
        atime: now,
        mtime: now,
        ctime: now,
        etag: None,
        target: None,
        revision: 0,
    }
}
