//! A disk whose power is cut: derives, from a trace, the possible states of the files at any point.
//!
//! Synced data is present. Of unsynced writes to a file, each sector is present or not, independently, as is a change
//! of its length. Of unsynced changes to a directory, those up to some point are present, as journals of file systems
//! keep their order; each directory is independent. A rename is atomic. The sync of a file does not include its name,
//! except in [`NAMED_BY_SYNCS`].

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::dice::Dice;
use super::image::{Content, Image};
use super::trace::Op;

const SECTOR: usize = 512;
/// The directory in which lsm-tree creates files of separate values. It syncs the files and not the directory, so a power
/// cut loses such a file on a file system that does no more than POSIX asks for. Ext4, XFS, Btrfs and F2FS keep the
/// name of a new file whose content was synced.
const NAMED_BY_SYNCS: &str = "blobs";

type Id = usize;

/// Whether the disk honours syncs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Syncs {
    Kept,
    Ignored,
}

/// A disk on which a trace is played.
#[derive(Clone)]
pub(crate) struct Disk {
    syncs: Syncs,
    nodes: Vec<Node>,
    /// The current file of an inode; numbers are reused.
    inodes: HashMap<u64, Id>,
    /// Directories called [`NAMED_BY_SYNCS`].
    named_by_syncs: Vec<Id>,
}

#[derive(Clone)]
enum Node {
    File(File),
    Directory(Directory),
}

#[derive(Clone, Default)]
struct File {
    durable: Content,
    pending: Vec<Change>,
}

#[derive(Clone)]
enum Change {
    Write(u64, Vec<u8>),
    SetLength(u64),
}

#[derive(Clone, Default)]
struct Directory {
    now: BTreeMap<OsString, Id>,
    durable: BTreeMap<OsString, Id>,
    /// Names that were added, removed or changed, in order; grouped by operation.
    pending: Vec<Vec<(OsString, Option<Id>)>>,
}

impl Directory {
    /// Whether a new name of this file is not durable yet.
    fn is_naming(&self, file: Id) -> bool {
        self.pending.iter().flatten().any(|(_, id)| *id == Some(file))
    }
}

const ROOT: Id = 0;

impl Disk {
    /// A disk with the content of `dir`, all of it synced, before a trace is recorded.
    pub(crate) fn of(dir: &Path) -> Self {
        let syncs = Syncs::Kept;
        let mut disk =
            Self { syncs, nodes: Vec::new(), inodes: HashMap::new(), named_by_syncs: Vec::new() };
        let root = disk.node(inode(dir), Node::Directory(Directory::default()));
        assert_eq!(root, ROOT);
        let image = Image::of(dir);
        for name in image.directories {
            let id = disk.node(inode(&dir.join(&name)), Node::Directory(Directory::default()));
            disk.link(&name, id);
        }
        for (name, durable) in image.files {
            let file = File { durable, pending: Vec::new() };
            let id = disk.node(inode(&dir.join(&name)), Node::File(file));
            disk.link(&name, id);
        }
        (0..disk.nodes.len()).for_each(|id| disk.settle(id));
        disk
    }

    /// The same with a disk that ignores syncs.
    pub(crate) fn ignoring_syncs(&self) -> Self {
        Self { syncs: Syncs::Ignored, ..self.clone() }
    }

    fn node(&mut self, inode: u64, node: Node) -> Id {
        self.nodes.push(node);
        self.inodes.insert(inode, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    fn directory(&mut self, id: Id) -> &mut Directory {
        match &mut self.nodes[id] {
            Node::Directory(directory) => directory,
            Node::File(_) => panic!("a file is no directory"),
        }
    }

    fn find(&mut self, path: &Path) -> Option<Id> {
        path.iter().try_fold(ROOT, |above, name| self.directory(above).now.get(name).copied())
    }

    fn place(&mut self, path: &Path) -> (Id, OsString) {
        let above = self.find(path.parent().unwrap()).unwrap();
        (above, path.file_name().unwrap().to_owned())
    }

    fn change(&mut self, directory: Id, names: Vec<(OsString, Option<Id>)>) {
        let directory = self.directory(directory);
        for (name, id) in &names {
            set(&mut directory.now, name, *id);
        }
        directory.pending.push(names);
    }

    fn link(&mut self, path: &Path, id: Id) {
        let (above, name) = self.place(path);
        self.change(above, vec![(name, Some(id))]);
    }

    fn rename(&mut self, from: &Path, to: &Path) {
        let id = self.find(from).unwrap();
        let ((source, old), (target, new)) = (self.place(from), self.place(to));
        assert_eq!(source, target, "a rename to another directory: say what a cut leaves of it");
        self.change(source, vec![(old, None), (new, Some(id))]);
    }

    fn settle(&mut self, id: Id) {
        match &mut self.nodes[id] {
            Node::File(file) => {
                for change in file.pending.drain(..) {
                    change.apply(&mut file.durable, &mut |_| true);
                }
            }
            Node::Directory(directory) => {
                directory.durable.clone_from(&directory.now);
                directory.pending.clear();
            }
        }
    }

    fn sync(&mut self, id: Id) {
        self.settle(id);
        for directory in self.named_by_syncs.clone() {
            if self.directory(directory).is_naming(id) {
                self.settle(directory);
            }
        }
    }

    /// Plays one operation.
    pub(crate) fn play(&mut self, op: &Op) {
        match op {
            Op::Open(inode, path) => {
                if self.find(path).is_none() {
                    let id = self.node(*inode, Node::File(File::default()));
                    self.link(path, id);
                }
            }
            Op::MakeDirectory(inode, path) => {
                let id = self.node(*inode, Node::Directory(Directory::default()));
                self.link(path, id);
                if path.ends_with(NAMED_BY_SYNCS) {
                    self.named_by_syncs.push(id);
                }
            }
            Op::Write(inode, at, bytes) => self.write(*inode, Change::Write(*at, bytes.clone())),
            Op::SetLength(inode, length) => self.write(*inode, Change::SetLength(*length)),
            Op::Sync(inode) if self.syncs == Syncs::Kept => self.sync(self.inodes[inode]),
            Op::Sync(_) | Op::Print(_) => {}
            Op::Rename(from, to) => self.rename(from, to),
            Op::Link(from, to) => {
                let id = self.find(from).unwrap();
                self.link(to, id);
            }
            Op::Remove(path) => {
                let (above, name) = self.place(path);
                self.change(above, vec![(name, None)]);
            }
        }
    }

    fn write(&mut self, inode: u64, change: Change) {
        match &mut self.nodes[self.inodes[&inode]] {
            Node::File(file) => file.pending.push(change),
            Node::Directory(_) => panic!("a directory is not written"),
        }
    }

    /// A possible state after a power cut at this point.
    pub(crate) fn cut(&self, dice: &mut Dice) -> Image {
        let mut image = Image::default();
        // Unsynced data is lost completely, partly, or not at all.
        let kept = [0, 4, 1, 2, 3][dice.below(5) as usize];
        self.leave(ROOT, PathBuf::new(), (kept, dice), &mut image);
        image
    }

    fn leave(&self, id: Id, path: PathBuf, (kept, dice): (u64, &mut Dice), image: &mut Image) {
        match &self.nodes[id] {
            Node::File(file) => {
                let mut content = file.durable.clone();
                for change in &file.pending {
                    change.apply(&mut content, &mut |_| dice.below(4) < kept);
                }
                image.files.insert(path, Content::new(content.bytes, content.length));
            }
            Node::Directory(directory) => {
                let mut names = directory.durable.clone();
                let until = match kept {
                    0 => 0,
                    4 => directory.pending.len(),
                    _ => dice.below(directory.pending.len() as u64 + 1) as usize,
                };
                for (name, id) in directory.pending[..until].iter().flatten() {
                    set(&mut names, name, *id);
                }
                if id != ROOT {
                    image.directories.push(path.clone());
                }
                for (name, id) in names {
                    self.leave(id, path.join(name), (kept, dice), image);
                }
            }
        }
    }
}

impl Change {
    /// Applies the change, as far as its sectors are kept.
    fn apply(&self, content: &mut Content, keep: &mut impl FnMut(usize) -> bool) {
        match self {
            Self::SetLength(length) if keep(0) => content.truncate(*length),
            Self::SetLength(_) => {}
            Self::Write(at, bytes) => {
                let start = *at as usize;
                let mut done = 0;
                while done < bytes.len() {
                    let end = bytes.len().min(done + SECTOR - (start + done) % SECTOR);
                    if keep((start + done) / SECTOR) {
                        put(content, start + done, &bytes[done..end]);
                    }
                    done = end;
                }
            }
        }
    }
}

fn put(content: &mut Content, at: usize, bytes: &[u8]) {
    let end = at + bytes.len();
    content.bytes.resize(content.bytes.len().max(end), 0);
    content.bytes[at..end].copy_from_slice(bytes);
    content.length = content.length.max(end as u64);
}

fn set(names: &mut BTreeMap<OsString, Id>, name: &OsString, id: Option<Id>) {
    match id {
        Some(id) => drop(names.insert(name.clone(), id)),
        None => drop(names.remove(name)),
    }
}

fn inode(path: &Path) -> u64 {
    path.metadata().unwrap().ino()
}
