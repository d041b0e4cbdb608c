//! What the mount knows of the tree: nodes by inode number, and which names a directory has.
//!
//! Invariants: a node's attributes are fresh while no change with a higher revision was reported; a listing is only
//! treated as complete if no change in its directory was reported since it was requested. In one tree a resource has
//! one node; the same resource below two places has two.

mod apply;
mod doubt;
mod evict;
mod learning;
mod node;
mod nodes;
mod noting;
mod numbering;
mod placing;
mod replacing;

use std::collections::{HashMap, HashSet};
use std::time::SystemTime;

use cenote_client::Resource;

pub use self::apply::Stale;
use self::node::Directory;
pub(crate) use self::node::{Children, Node, Origin};
use self::nodes::Nodes;
use self::placing::Top;
use crate::attr::{Attr, FileKind};
use crate::error::{Fault, Result};
use crate::feed::Drops;
use crate::found::Found;
use crate::journal::Note;
use crate::source::{Place, join};

/// The number of an inode. The root is 1; others are the id of their resource, beside the number of the tree, or, of files that were created here, a
/// number of their own.
pub(crate) type Ino = u64;

/// The number of a place. 0 means none: everything in a mount of one collection, and the directories above the places
/// of other mounts.
pub(crate) type Tree = u32;

pub(crate) const ROOT: Ino = 1;
/// The first number of files that were created here.
const FIRST_LOCAL: Ino = 1 << 62;
/// Where the number of the tree is in that of an inode. Ids count up from 1: none needs more bits, and the numbers of places end before
/// [`FIRST_LOCAL`].
const TREE_BITS: u32 = 44;

/// What the cache has for a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lookup {
    Present(Ino),
    Absent,
    Unknown,
}

/// The nodes.
#[derive(Debug)]
pub(crate) struct Cache {
    nodes: Nodes,
    /// Inodes of resources whose number is not their id.
    aliases: HashMap<(Tree, u64), Ino>,
    next_local: Ino,
    /// The top of each tree.
    tops: Vec<Top>,
    /// Whether objects of one name are shown in numbered directories.
    numbered: bool,
    /// The modes that all directories and all files in the store have, if they do not have their own.
    modes: Option<(u32, u32)>,
    /// Counts the uses of directories.
    uses: u64,
    /// How many nodes there should be at most.
    limit: usize,
    /// The number of nodes that the kernel was asked to drop, so that they can be evicted.
    leaving: usize,
    /// What is to be recorded on the local disk, if anything.
    notes: Option<Vec<Note>>,
    /// Inodes of contents that were replaced while they were read.
    replaced: HashSet<Ino>,
    /// Reports to the kernel what to drop from its caches.
    drops: Option<Drops>,
}

impl Cache {
    pub(crate) fn new(root_path: &str, (id, attr): (u64, Attr), limit: usize) -> Self {
        let mut node = Node::new((0, ROOT), "", attr);
        node.id = Some(id);
        Self {
            nodes: Nodes::with_root((ROOT, node)),
            aliases: HashMap::from([((0, id), ROOT)]),
            next_local: FIRST_LOCAL,
            tops: vec![Top::root(root_path)],
            numbered: false,
            modes: None,
            uses: 0,
            limit,
            leaving: 0,
            notes: None,
            replaced: HashSet::new(),
            drops: None,
        }
    }

    /// From now on, reports to the kernel what to drop when something turns out to have changed.
    pub(crate) fn set_drops(&mut self, drops: Drops) {
        self.drops = Some(drops);
    }

    pub(crate) fn ino_of(&self, tree: Tree, id: u64) -> Ino {
        let plain = || (u64::from(tree) << TREE_BITS) + id;
        self.aliases.get(&(tree, id)).copied().unwrap_or_else(plain)
    }

    pub(crate) fn tree_of(&self, ino: Ino) -> Tree {
        self.nodes.get(&ino).map_or(0, |node| node.tree)
    }

    pub(crate) fn node(&self, ino: Ino) -> Result<&Node> {
        self.nodes.get(&ino).ok_or_else(stale)
    }

    pub(crate) fn node_mut(&mut self, ino: Ino) -> Result<&mut Node> {
        self.nodes.get_mut(&ino).ok_or_else(stale)
    }

    /// How the resource of a node is named.
    pub(crate) fn place(&self, ino: Ino) -> Result<Place> {
        let node = self.node(ino)?;
        if node.origin != Origin::Store {
            return Err(Fault::new(
                libc::EPERM,
                "a directory of the mount itself cannot be changed",
            ));
        }
        let id = node.id.ok_or_else(stale)?;
        let path = if node.replaced { String::new() } else { self.path(ino)? };
        Ok(Place { id, path })
    }

    pub(crate) fn path(&self, ino: Ino) -> Result<String> {
        let top = self.top_of(ino)?;
        let (mut names, mut at) = (Vec::new(), ino);
        while at != top.ino {
            let node = self.node(at)?;
            if node.origin == Origin::Store {
                names.push(node.name.as_str());
            }
            at = node.parent;
        }
        Ok(names.iter().rev().fold(top.path.clone(), |path, name| join(&path, name)))
    }

    /// The attributes of a node as they are shown.
    pub(crate) fn shown(&self, node: &Node) -> Attr {
        Attr { mode: self.mode(node), ..node.shown() }
    }

    /// The same without the tag and where a link leads, which a listing does not show.
    pub(crate) fn listed(&self, node: &Node) -> Attr {
        Attr { mode: self.mode(node), ..node.listed() }
    }

    fn mode(&self, node: &Node) -> u32 {
        match (self.modes, node.attr.kind, node.origin) {
            (Some((mode, _)), FileKind::Directory, Origin::Store | Origin::Numbered) => mode,
            (Some((_, mode)), FileKind::File, _) if node.id.is_some() => mode,
            _ => node.attr.mode,
        }
    }

    /// What is cached for a name, without marking its directory as used.
    pub(crate) fn peek(&self, parent: Ino, name: &str) -> Lookup {
        let Some(children) = self.children(parent) else { return Lookup::Unknown };
        match children.names.get(name) {
            Some(ino) => Lookup::Present(*ino),
            None if children.complete || children.absent.contains(name) => Lookup::Absent,
            None => Lookup::Unknown,
        }
    }

    pub(crate) fn children(&self, ino: Ino) -> Option<&Children> {
        self.nodes.get(&ino).map(|node| &*node.children)
    }

    pub(crate) fn children_mut(&mut self, ino: Ino) -> Option<&mut Children> {
        self.nodes.get_mut(&ino).map(|node| &mut *node.children)
    }

    /// How often something in a directory was reported to have changed.
    pub(crate) fn generation(&self, ino: Ino) -> u64 {
        self.children(ino).map_or(0, |children| children.generation)
    }

    pub(crate) fn learn_absent(&mut self, parent: Ino, generation: u64, name: &str) {
        if self.generation(parent) == generation
            && let Some(children) = self.children_mut(parent)
        {
            children.note_absent(name);
        }
    }

    /// Whether the kernel may cache that a name is missing. This is noted even if it is known from a listing: the kernel has to drop the entry once the
    /// name may exist.
    pub(crate) fn may_cache_absence(&mut self, parent: Ino, name: &str) -> bool {
        self.look_up(parent, name) == Lookup::Absent
            && self.children_mut(parent).is_some_and(|children| children.note_absent(name))
    }

    /// Takes over newer attributes of a node.
    pub(crate) fn update(&mut self, ino: Ino, found: &Resource) {
        let attr = Attr::of(found);
        let ino = self.renewed(ino, &attr);
        if let Some(node) = self.nodes.get_mut(&ino).filter(|node| !node.replaced) {
            node.update(attr);
            node.note_rights(found.level.as_deref());
            self.note_put(ino, found);
        }
    }

    fn upsert(&mut self, parent: Ino, name: &str, found: Found) -> Ino {
        let tree = self.tree_of(parent);
        let ino = self.renewed(self.ino_of(tree, found.id), &found.attr);
        let is_top = self.is_top(ino);
        match self.nodes.get_mut(&ino) {
            Some(node) => {
                node.update(found.attr);
                node.note_rights(found.level.as_deref());
                if !is_top && (node.parent != parent || node.name != name) {
                    let old = (node.parent, node.name.clone());
                    (node.parent, node.name) = (parent, name.to_owned());
                    self.note_gone(old.0, &old.1, ino);
                    self.unlink(old.0, &old.1, ino);
                }
            }
            None => {
                let mut node = Node::new((tree, parent), name, found.attr);
                node.id = Some(found.id);
                node.note_rights(found.level.as_deref());
                self.nodes.insert(ino, node);
            }
        }
        ino
    }

    /// A file that is not in the store yet.
    pub(crate) fn create(&mut self, parent: Ino, name: &str, attr: Attr) -> Ino {
        let ino = self.next_local;
        self.next_local += 1;
        self.nodes.insert(ino, Node::new((self.tree_of(parent), parent), name, attr));
        self.link(parent, name, ino);
        ino
    }

    /// A file that was created here has become a resource.
    pub(crate) fn adopt(&mut self, ino: Ino, found: &Resource) {
        self.aliases.insert((self.tree_of(ino), found.id), ino);
        if let Some(node) = self.nodes.get_mut(&ino) {
            node.id = Some(found.id);
        }
        self.note_put(ino, found);
    }

    pub(crate) fn link(&mut self, parent: Ino, name: impl Into<String>, ino: Ino) {
        if let Some(children) = self.children_mut(parent) {
            let name = name.into();
            children.absent.remove(&name);
            children.names.insert(name, ino);
        }
    }

    /// A name does not lead to this node any more, if it did.
    pub(crate) fn unlink(&mut self, parent: Ino, name: &str, ino: Ino) -> bool {
        let Some(children) = self.children_mut(parent) else { return false };
        let led = children.names.get(name) == Some(&ino);
        if led {
            children.names.remove(name);
        }
        led
    }

    /// A name was removed by this mount.
    pub(crate) fn remove(&mut self, parent: Ino, name: &str, ino: Ino) {
        self.note_gone(parent, name, ino);
        if self.unlink(parent, name, ino)
            && let Some(children) = self.children_mut(parent)
        {
            children.generation += 1;
            children.absent.insert(name.to_owned());
        }
        if let Some(node) = self.nodes.get_mut(&ino) {
            node.orphan = true;
            node.children = Directory::default();
        }
        self.forget(ino, 0);
    }

    /// A node has another name now.
    pub(crate) fn rename(&mut self, ino: Ino, to: Ino, name: &str) {
        let Some(node) = self.nodes.get_mut(&ino) else { return };
        let old = std::mem::replace(&mut node.parent, to);
        let old_name = std::mem::replace(&mut node.name, name.to_owned());
        self.note_gone(old, &old_name, ino);
        if self.unlink(old, &old_name, ino)
            && let Some(children) = self.children_mut(old)
        {
            children.generation += 1;
            children.absent.insert(old_name);
        }
        if let Some(children) = self.children_mut(to) {
            children.generation += 1;
        }
        self.link(to, name, ino);
    }

    /// Something in a directory changed at this time.
    pub(crate) fn touch(&mut self, ino: Ino, at: SystemTime) {
        if let Some(node) = self.nodes.get_mut(&ino) {
            node.attr.mtime = node.attr.mtime.max(at);
            node.attr.ctime = node.attr.ctime.max(at);
        }
    }

    /// The kernel does not know this many references to a node any more.
    pub(crate) fn forget(&mut self, ino: Ino, count: u64) {
        let Some(node) = self.nodes.get_mut(&ino) else { return };
        node.lookups = node.lookups.saturating_sub(count);
        if node.lookups == 0 && node.opened == 0 && node.orphan && ino != ROOT {
            self.give_up(ino);
        } else if node.lookups == 0 && node.leaving {
            self.dropped(ino);
        }
    }
}

fn stale() -> Fault {
    Fault::new(libc::ESTALE, "the file is no longer known")
}
