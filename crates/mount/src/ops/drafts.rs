//! Writing to open files, and publishing the written data.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use jiff::Timestamp;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::{Entry, FileSystem};
use crate::attr::{Attr, FileKind};
use crate::cache::{Ino, Lookup, Stale};
use crate::error::{Fault, Result};
use crate::ops::files::Opened;
use crate::write::{Base, Draft, Target, With};

/// How many files are published at once when the mount ends.
const AT_ONCE: usize = 8;

/// A draft of a file, which its operations take turns on.
pub(crate) type Shared = Arc<Mutex<Draft>>;

impl FileSystem {
    /// Creates a file, and opens it for writing; it appears in the store when it is closed or synced.
    pub async fn create(
        &self,
        parent: Ino,
        name: &str,
        mode: u32,
        exclusive: bool,
    ) -> Result<(Entry, Opened)> {
        self.require_names(parent)?;
        match self.resolve(parent, name).await {
            Err(fault) if fault.errno == libc::ENOENT => {}
            Err(fault) => return Err(fault),
            Ok(_) if exclusive => return Err(Fault::new(libc::EEXIST, name)),
            Ok(ino) => {
                let opened = self.open_file(ino, true).await?;
                self.hold(ino);
                return Ok((self.getattr(ino).await?, opened));
            }
        }
        self.check_depth(parent)?;
        self.require_creation(parent).await?;
        let ino = self.new_file(parent, name, mode, exclusive)?;
        let opened = self.opened(ino, true)?;
        self.hold(ino);
        Ok((self.getattr(ino).await?, opened))
    }

    /// Refuses to create files where the server would refuse to publish them. A permission is remembered; a refusal is not, since who waits
    /// for a permission tries again.
    async fn require_creation(&self, dir: Ino) -> Result<()> {
        let (place, allowed) = {
            let cache = self.lock();
            (cache.place(dir)?, self.0.trusts(cache.node(dir)?.may_create))
        };
        if allowed {
            return Ok(());
        }
        let found = self.0.source.stat(&place).await?;
        let mut cache = self.lock();
        cache.update(dir, &found);
        match cache.node(dir)?.may_create {
            true => Ok(()),
            false => Err(Fault::new(libc::EACCES, "no file may be created here")),
        }
    }

    /// A file that is not in the store yet.
    fn new_file(&self, parent: Ino, name: &str, mode: u32, exclusive: bool) -> Result<Ino> {
        check_name(name)?;
        let now = (self.options().now)();
        let attr = Attr {
            kind: FileKind::File,
            size: 0,
            mode: mode & 0o7777,
            links: 1,
            atime: now,
            mtime: now,
            ctime: now,
            etag: None,
            target: None,
            revision: 0,
        };
        let mut cache = self.lock();
        // Refuses numbered directories.
        cache.place(parent)?;
        if cache.node(parent)?.attr.kind != FileKind::Directory {
            return Err(Fault::new(libc::ENOTDIR, "not a directory"));
        }
        if let Lookup::Present(_) = cache.peek(parent, name) {
            return Err(Fault::new(libc::EEXIST, name));
        }
        let ino = cache.create(parent, name, attr);
        // An older object of the name can be in a numbered directory: it is not replaced.
        let exclusive = exclusive || cache.is_numbered();
        let node = cache.node_mut(ino)?;
        (node.dirty, node.mode_set, node.exclusive) = (true, true, exclusive);
        cache.touch(parent, now);
        drop(cache);
        let draft = Draft::empty(self.0.source.clone(), &self.0.memory);
        self.0.drafts().insert(ino, Arc::new(Mutex::new(draft)));
        Ok(ino)
    }

    /// Writes bytes to an open file; with `append`, at its end.
    pub async fn write(&self, handle: u64, offset: u64, bytes: Bytes, append: bool) -> Result<u32> {
        let (ino, length) = (self.writing(handle)?, bytes.len() as u32);
        let mut draft = self.draft(ino).await?;
        let offset = if append { draft.size() } else { offset };
        let written = draft.write(&self.target(ino)?, offset, bytes).await;
        self.written(ino, &draft)?;
        written.map(|()| length)
    }

    /// The file that is open for writing.
    pub(crate) fn writing(&self, handle: u64) -> Result<Ino> {
        let handle = self.handle(handle)?;
        match handle.write {
            true => Ok(handle.ino),
            false => {
                let errno = if self.options().is_dxfuse() { libc::EPERM } else { libc::EBADF };
                Err(Fault::new(errno, "the file is not open for writing"))
            }
        }
    }

    /// Truncates a file, or extends it with zeros.
    pub(crate) async fn resize(&self, ino: Ino, size: u64) -> Result<()> {
        let mut open = self.draft(ino).await?;
        let cut = open.truncate(&self.target(ino)?, size).await;
        self.written(ino, &open)?;
        drop(open);
        cut?;
        let is_open = self.lock().node(ino)?.writers > 0;
        if is_open { Ok(()) } else { self.publish(ino).await }
    }

    /// Records written data, so that attributes show it.
    pub(crate) fn written(&self, ino: Ino, draft: &Draft) -> Result<()> {
        let now = (self.options().now)();
        let mut cache = self.lock();
        let node = cache.node_mut(ino)?;
        node.dirty = draft.is_dirty();
        (node.attr.size, node.attr.mtime, node.attr.ctime) = (draft.size(), now, now);
        Ok(())
    }

    /// The draft of a file, created from its current content if there is none; locked for other operations meanwhile.
    pub(crate) async fn draft(&self, ino: Ino) -> Result<OwnedMutexGuard<Draft>> {
        loop {
            let existing = self.find_draft(ino);
            let open = match &existing {
                Some(draft) => Some(Arc::clone(draft).lock_owned().await),
                None => None,
            };
            // Read once no publication is running: a publication changes the tag of the content.
            let attr = self.getattr(ino).await?.attr;
            let mut drafts = self.0.drafts();
            if drafts.get(&ino).map(Arc::as_ptr) != existing.as_ref().map(Arc::as_ptr) {
                // Another operation has created or dropped a draft.
                continue;
            }
            let is_current = |open: &Draft| open.is_dirty() || open.is_of(attr.etag.as_deref());
            if let Some(open) = open.filter(|open| is_current(open)) {
                return Ok(open);
            }
            let base = Base::Content { etag: attr.etag, size: attr.size };
            let draft = Draft::of(self.0.source.clone(), &self.0.memory, base);
            let draft = Arc::new(Mutex::new(draft));
            drafts.insert(ino, Arc::clone(&draft));
            return Ok(draft.try_lock_owned().expect("no other operation can have found it yet"));
        }
    }

    pub(crate) fn find_draft(&self, ino: Ino) -> Option<Shared> {
        self.0.drafts().get(&ino).cloned()
    }

    /// Where the draft of a file is published.
    pub(crate) fn target(&self, ino: Ino) -> Result<Target> {
        let cache = self.lock();
        let node = cache.node(ino)?;
        if let Some(id) = node.id.filter(|_| !node.orphan) {
            return Ok(Target::Object(id));
        }
        let parent = cache.node(node.parent)?.id;
        let parent = parent.ok_or_else(|| Fault::new(libc::ESTALE, "its directory is gone"))?;
        let name = match node.orphan {
            false => node.name.clone(),
            // It is never published, and is independent of the file that now has its old name.
            true => format!(".{ino}.removed"),
        };
        Ok(Target::New { parent, name, exclusive: node.exclusive })
    }

    /// A program closes a descriptor of a file: the data written is published.
    pub async fn flush(&self, handle: u64) -> Result<()> {
        let handle = self.handle(handle)?;
        if handle.write { self.publish(handle.ino).await } else { Ok(()) }
    }

    /// Publishes the data written to a file, whoever wrote it.
    pub async fn fsync(&self, handle: u64) -> Result<()> {
        let ino = self.handle(handle)?.ino;
        self.publish(ino).await
    }

    /// Publishes the data written to a file as one version.
    pub(crate) async fn publish(&self, ino: Ino) -> Result<()> {
        let Some(draft) = self.find_draft(ino) else { return Ok(()) };
        let mut draft = draft.lock().await;
        if !draft.is_dirty() || self.lock().node(ino)?.orphan {
            return Ok(());
        }
        let with = self.publishing(ino)?;
        let target = self.target(ino)?;
        let is_object = matches!(target, Target::Object(_));
        let published = match draft.publish(&target, with).await {
            // The object was removed by others meanwhile: the written data is not lost.
            Err(fault) if fault.errno == libc::ENOENT && is_object && self.lost_object(ino) => {
                draft.publish(&self.target(ino)?, with).await
            }
            outcome => outcome,
        };
        let mut stale = Vec::new();
        {
            let mut cache = self.lock();
            if let Ok(resource) = &published {
                cache.adopt(ino, resource);
            }
            let node = cache.node_mut(ino)?;
            node.publishing -= 1;
            if let Ok(resource) = &published {
                (node.dirty, node.mode_set, node.exclusive) = (false, false, false);
                node.doubtful = false;
                let shown = node.shown();
                node.attr = Attr { ctime: node.attr.ctime, ..Attr::of(resource) };
                if !node.shown().looks_like(&shown) {
                    stale.push(Stale::Attr(ino));
                }
                node.kept.clone_from(&node.attr.etag);
                if !node.is_fresh() {
                    stale.push(Stale::Content(ino));
                }
            }
        }
        self.0.drop_from_kernel(stale);
        published.map(drop).map_err(|fault| Fault { level: crate::Level::Warning, ..fault })
    }

    /// Sets the attributes with which a file is published from now on.
    fn publishing(&self, ino: Ino) -> Result<With> {
        let mut cache = self.lock();
        let node = cache.node_mut(ino)?;
        node.publishing += 1;
        let mtime = Timestamp::try_from(node.attr.mtime).ok();
        Ok(With { mode: node.mode_set.then_some(node.attr.mode), mtime })
    }

    /// A file whose object was removed is a new one, unless it was removed through this mount. The change feed may or
    /// may not have reported the removal yet.
    fn lost_object(&self, ino: Ino) -> bool {
        let mut cache = self.lock();
        let Ok(node) = cache.node_mut(ino) else { return false };
        (node.mode_set, node.id) = (true, None);
        !node.orphan
    }

    /// Publishes all written data, before the mount ends: also that of files whose neighbours cannot be published. Returns the first failure.
    pub async fn publish_all(&self) -> Result<()> {
        let written: Vec<Ino> = self.0.drafts().keys().copied().collect();
        let publish = |ino| {
            let system = self.clone();
            async move { system.publish(ino).await }
        };
        let published = stream::iter(written).map(publish).buffer_unordered(AT_ONCE);
        let published: Vec<Result<()>> = published.collect().await;
        self.note_now().await;
        published.into_iter().collect()
    }

    /// Keeps the content of a file that is about to lose its name, for those who have it open.
    pub(crate) async fn preserve(&self, ino: Ino) -> Result<()> {
        let is_open = {
            let cache = self.lock();
            let node = cache.node(ino)?;
            node.opened > 0 && node.id.is_some() && node.attr.kind == FileKind::File
        };
        if !is_open {
            return Ok(());
        }
        let mut draft = self.draft(ino).await?;
        let object = self.target(ino)?;
        let name = {
            let cache = self.lock();
            let node = cache.node(ino)?;
            let parent = cache.place(node.parent)?.id;
            Target::New { parent, name: node.name.clone(), exclusive: false }
        };
        draft.detach(&object, &name).await
    }

    /// Refuses changes of resources at a read-only place.
    pub(crate) fn require_changeable(&self, ino: Ino) -> Result<()> {
        self.require_writable()?;
        self.lock().require_changeable(ino)
    }

    /// Refuses changes of the names in a directory.
    pub(crate) fn require_names(&self, dir: Ino) -> Result<()> {
        self.require_writable()?;
        self.lock().require_names(dir)
    }

    /// Refuses new names in a directory that is as deep as a store can be.
    pub(crate) fn check_depth(&self, parent: Ino) -> Result<()> {
        let path = self.lock().path(parent)?;
        match path.split('/').filter(|name| !name.is_empty()).count() < DEEPEST {
            true => Ok(()),
            false => Err(Fault::new(libc::ENAMETOOLONG, "a path has too many names")),
        }
    }

    pub(crate) fn require_writable(&self) -> Result<()> {
        if self.options().is_writable() { Ok(()) } else { Err(Fault::read_only()) }
    }
}

/// The most bytes of a name.
pub(crate) const LONGEST_NAME: u32 = 1024;

/// The most names of a path.
const DEEPEST: usize = 256;

/// Refuses a name that the store cannot have.
pub(crate) fn check_name(name: &str) -> Result<()> {
    match name.len() {
        0 => Err(Fault::new(libc::ENOENT, "a name is empty")),
        length if length <= LONGEST_NAME as usize => Ok(()),
        _ => Err(Fault::new(libc::ENAMETOOLONG, "a name is too long")),
    }
}
