//! One file or directory, as far as it is known.

use std::collections::{BTreeMap, HashSet};
use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;
use std::time::SystemTime;

use super::{Ino, Tree};
use crate::attr::{Attr, FileKind};
use crate::dxfuse::Facts;

/// There is a node for each file that is known, so they are kept small.
const _: () = assert!(size_of::<Node>() <= 320);

/// Whose a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A resource, or a file that becomes one.
    Store,
    /// A directory of the mount itself, above the places.
    Mount,
    /// A numbered directory, with objects of the directory that it is in.
    Numbered,
}

/// A file or directory.
#[derive(Debug)]
pub(crate) struct Node {
    /// The directory that it is in; the root is in itself.
    pub(crate) parent: Ino,
    pub(crate) name: String,
    pub(crate) origin: Origin,
    /// The place that it is in or below.
    pub(crate) tree: Tree,
    /// The id of its resource; `None` before it is in the store, and for nodes without a resource.
    pub(crate) id: Option<u64>,
    pub(crate) attr: Attr,
    /// The access time, if a program set it.
    pub(crate) accessed: Option<SystemTime>,
    /// The highest revision that was reported.
    pub(crate) reported: u64,
    /// Something above it changed who may see it.
    pub(crate) doubtful: bool,
    /// How many references the kernel has.
    pub(crate) lookups: u64,
    /// How many handles are open.
    pub(crate) opened: u32,
    /// How many of them can write.
    pub(crate) writers: u32,
    /// A change of this mount is on its way, so reports may be about it.
    pub(crate) publishing: u32,
    /// Something was written that is not published.
    pub(crate) dirty: bool,
    /// Its mode was set here, and is not published.
    pub(crate) mode_set: bool,
    /// Nothing may have its name when it is published.
    pub(crate) exclusive: bool,
    /// It has no name any more.
    pub(crate) orphan: bool,
    /// Others replaced its content while it was read: its resource has another node.
    pub(crate) replaced: bool,
    /// Whether the kernel, or a program that has it open, may have seen some of its content.
    pub(crate) content_read: bool,
    /// It is evicted once the kernel has dropped it.
    pub(crate) leaving: bool,
    /// The tag of the content that the kernel caches.
    pub(crate) kept: Option<String>,
    /// Whether the server has said that files may be created in it; what it said is forgotten when rights may have changed.
    pub(crate) may_create: bool,
    /// Whether the server has said that it may, or may not, be written to; forgotten likewise.
    pub(crate) may_write: Option<bool>,
    /// Its properties in the DNAnexus opening, if requested.
    pub(crate) facts: Option<Box<Facts>>,
    pub(crate) children: Directory,
}

/// The names in a directory.
#[derive(Debug, Default)]
pub(crate) struct Children {
    pub(crate) names: BTreeMap<String, Ino>,
    /// Names that are known not to be there: where not all are known, or the kernel caches that. At most [`ABSENT`].
    pub(crate) absent: HashSet<String>,
    /// Whether all names are known.
    pub(crate) complete: bool,
    /// Counts the reported changes in it.
    pub(crate) generation: u64,
    /// How many names were looked up one by one.
    pub(crate) single_lookups: u32,
    /// When it was last used, as a count of uses.
    pub(crate) used: u64,
}

/// What only directories have. It takes memory only once it was changed, so none for files.
#[derive(Debug, Default)]
pub(crate) struct Directory(Option<Box<Children>>);

impl Deref for Directory {
    type Target = Children;

    fn deref(&self) -> &Children {
        static NOTHING: LazyLock<Children> = LazyLock::new(Children::default);
        self.0.as_deref().unwrap_or(&NOTHING)
    }
}

impl DerefMut for Directory {
    fn deref_mut(&mut self) -> &mut Children {
        self.0.get_or_insert_default()
    }
}

/// How many missing names of a directory are noted; others are looked up each time.
const ABSENT: usize = 10_000;

impl Children {
    /// Notes that a name is missing; returns whether there was room for that.
    pub(super) fn note_absent(&mut self, name: &str) -> bool {
        if self.absent.len() < ABSENT {
            self.absent.insert(name.to_owned());
        }
        self.absent.contains(name)
    }
}

impl Node {
    pub(crate) fn new((tree, parent): (Tree, Ino), name: &str, attr: Attr) -> Self {
        Self {
            parent,
            name: name.to_owned(),
            origin: Origin::Store,
            tree,
            id: None,
            attr,
            accessed: None,
            reported: 0,
            doubtful: false,
            lookups: 0,
            opened: 0,
            writers: 0,
            publishing: 0,
            dirty: false,
            mode_set: false,
            exclusive: false,
            orphan: false,
            replaced: false,
            content_read: false,
            leaving: false,
            kept: None,
            may_create: false,
            may_write: None,
            facts: None,
            children: Directory::default(),
        }
    }

    /// Whether its attributes are those of the last change that was reported.
    pub(crate) fn is_fresh(&self) -> bool {
        self.attr.revision >= self.reported && !self.doubtful
    }

    /// Its attributes as they are shown.
    pub(crate) fn shown(&self) -> Attr {
        let (etag, target) = (self.attr.etag.clone(), self.attr.target.clone());
        Attr { etag, target, ..self.listed() }
    }

    /// The same without the tag and where a link leads.
    pub(crate) fn listed(&self) -> Attr {
        let Attr { kind, size, mode, links, mtime, ctime, revision, .. } = self.attr;
        let links = if self.orphan { 0 } else { links };
        let atime = self.accessed.unwrap_or(mtime);
        Attr { kind, size, mode, links, atime, mtime, ctime, etag: None, target: None, revision }
    }

    /// Whether they stay true until something is reported: those of a file that is not in the store are changed by this mount only.
    pub(crate) fn is_certain(&self) -> bool {
        self.id.is_none() || self.is_fresh()
    }

    /// Sets the mode of a file that is not published.
    pub(crate) fn set_mode(&mut self, mode: Option<u32>) {
        if let Some(mode) = mode {
            (self.attr.mode, self.mode_set) = (mode & 0o7777, true);
        }
    }

    /// Takes over what the server says of the caller's rights, if it does.
    pub(super) fn note_rights(&mut self, level: Option<&str>) {
        if let Some(level) = level {
            self.may_create = allows_creation(level);
            self.may_write = Some(allows_writing(level));
        }
    }

    /// Takes over attributes, unless they are older.
    pub(crate) fn update(&mut self, attr: Attr) {
        if attr.revision < self.attr.revision || self.dirty {
            return;
        }
        self.doubtful = false;
        // Times already shown for a change by this mount, or for a change in a directory, are kept.
        let same = attr.revision == self.attr.revision;
        let (mtime, ctime) = match (same, attr.kind) {
            (true, FileKind::Directory) => {
                (attr.mtime.max(self.attr.mtime), attr.ctime.max(self.attr.ctime))
            }
            (true, _) => (attr.mtime, self.attr.ctime),
            (false, _) => (attr.mtime, attr.ctime),
        };
        self.attr = Attr { mtime, ctime, ..attr };
    }
}

/// The same of writing to a file.
fn allows_writing(level: &str) -> bool {
    let allows = ["write_content", "modify_object", "delete_object", "own"];
    level.split('+').any(|word| allows.contains(&word))
}

/// Whether a level, or one of several words joined by `+`, lets its holder create files in a collection.
fn allows_creation(level: &str) -> bool {
    let allows = ["create", "create_object", "modify_object", "delete_object", "own"];
    level.split('+').any(|word| allows.contains(&word))
}
