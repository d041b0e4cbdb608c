//! Open files: reading.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::FileSystem;
use crate::attr::{Attr, FileKind};
use crate::cache::{Ino, Stale};
use crate::disk::Cached;
use crate::error::{Fault, Result};
use crate::read::{LocalFile, Reader, Remote};
use crate::source::has_changed;

/// How often a file is read again that is replaced meanwhile.
const ATTEMPTS: u32 = 8;

/// An open file.
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) ino: Ino,
    pub(crate) write: bool,
    reader: Mutex<Option<Arc<Reader>>>,
    /// The content with this tag on this machine; `None` inside if it is not here.
    local: Mutex<Option<Local>>,
}

/// The tag of a content, and where it is on this machine, if it is here.
type Local = (Option<String>, Option<Arc<LocalFile>>);

/// A file that was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// The number of the handle.
    pub handle: u64,
    /// Whether the kernel's cached data is still the content.
    pub keep_cache: bool,
}

impl FileSystem {
    /// Opens a file.
    pub async fn open_file(&self, ino: Ino, write: bool) -> Result<Opened> {
        if write && !self.options().is_writable() {
            return Err(Fault::read_only());
        }
        if write {
            self.lock().require_changeable(ino)?;
        }
        let kind = self.getattr(ino).await?.attr.kind;
        self.lock().require_present(ino)?;
        match kind {
            FileKind::File => {
                if self.options().is_dxfuse() {
                    self.require_readable(ino).await?;
                }
                let write = write && self.can_change(ino)?;
                if write && !self.options().is_dxfuse() {
                    self.require_content_right(ino).await?;
                }
                self.opened(ino, write)
            }
            FileKind::Directory => Err(Fault::new(libc::EISDIR, "a directory")),
            FileKind::Symlink => Err(Fault::new(libc::ELOOP, "a link")),
        }
    }

    /// Refuses to open a file for writing where the server said that it may not be written to, and still says so: who waits for a permission tries again.
    async fn require_content_right(&self, ino: Ino) -> Result<()> {
        let place = {
            let cache = self.lock();
            match cache.node(ino)?.may_write {
                Some(false) => cache.place(ino)?,
                _ => return Ok(()),
            }
        };
        let found = self.0.source.stat(&place).await?;
        let mut cache = self.lock();
        cache.update(ino, &found);
        cache.require_present(ino)?;
        match cache.node(ino)?.may_write {
            Some(false) => Err(Fault::new(libc::EACCES, "the file may not be written to")),
            _ => Ok(()),
        }
    }

    /// Whether a file can be written to: if dxfuse does not overwrite files, only one that is not in the store yet.
    pub(crate) fn can_change(&self, ino: Ino) -> Result<bool> {
        Ok(self.options().is_rewritable() || self.lock().node(ino)?.dirty)
    }

    /// Notes that a file is open.
    pub(crate) fn opened(&self, ino: Ino, write: bool) -> Result<Opened> {
        let keep_cache = {
            let mut cache = self.lock();
            let node = cache.node_mut(ino)?;
            node.opened += 1;
            node.writers += u32::from(write);
            let keep = node.id.is_none() || (node.kept.is_some() && node.kept == node.attr.etag);
            node.kept.clone_from(&node.attr.etag);
            let keep = keep && self.is_followed();
            node.content_read = keep || (node.content_read && node.opened > 1);
            keep
        };
        let handle = self.number();
        let (reader, local) = (Mutex::default(), Mutex::default());
        let open = Handle { ino, write, reader, local };
        self.0.handles().insert(handle, Arc::new(open));
        Ok(Opened { handle, keep_cache })
    }

    pub(crate) fn handle(&self, handle: u64) -> Result<Arc<Handle>> {
        let open = self.0.handles().get(&handle).cloned();
        open.ok_or_else(|| Fault::new(libc::EBADF, "the file is not open"))
    }

    /// Reads a range of an open file, as far as it reaches.
    ///
    /// # Errors
    /// `ESTALE` if the content that it had when it was opened was replaced, and the server does not have it any more.
    pub async fn read(&self, handle: u64, offset: u64, length: u32) -> Result<Bytes> {
        let handle = self.handle(handle)?;
        if let Some(bytes) = self.read_draft(&handle, (offset, length)).await? {
            return Ok(bytes);
        }
        for _ in 0..ATTEMPTS {
            let etag = self.getattr(handle.ino).await?.attr.etag;
            match self.read_content(&handle, (offset, length)).await {
                Ok(bytes) if self.note_content_read(handle.ino, etag.as_deref())? => {
                    return Ok(bytes);
                }
                // The file was opened anew, or written to, while this was read.
                Ok(_) => {}
                Err(fault) if has_changed(&fault) => {
                    self.find_content(&handle, etag.as_deref()).await?
                }
                Err(fault) => return Err(fault),
            }
        }
        Err(Fault::warning(libc::ESTALE, "the file is replaced again and again"))
    }

    /// What was written and not published, or kept of a file that has no name any more.
    async fn read_draft(
        &self,
        handle: &Handle,
        (offset, length): (u64, u32),
    ) -> Result<Option<Bytes>> {
        let Some(draft) = self.find_draft(handle.ino) else { return Ok(None) };
        let mut draft = draft.lock().await;
        if !draft.is_dirty() && !self.lock().node(handle.ino)?.orphan {
            return Ok(None);
        }
        let range = offset..offset.saturating_add(length.into());
        draft.read(&self.target(handle.ino)?, range).await.map(Some)
    }

    async fn read_content(&self, handle: &Handle, (offset, length): (u64, u32)) -> Result<Bytes> {
        if let Some(bytes) = self.read_small(handle.ino).await? {
            let start = bytes.len().min(offset as usize);
            let end = bytes.len().min(start.saturating_add(length as usize));
            return Ok(bytes.slice(start..end));
        }
        if let Some(local) = self.local(handle).await?
            && let Ok(bytes) = local.read(offset, length)
        {
            return Ok(bytes);
        }
        self.reader(handle).await?.read(offset, length).await
    }

    /// Notes that a program gets bytes of a content; returns whether it is still the one that the inode stands for.
    fn note_content_read(&self, ino: Ino, etag: Option<&str>) -> Result<bool> {
        let mut cache = self.lock();
        let node = cache.node_mut(ino)?;
        let is_same = node.attr.etag.as_deref() == etag;
        node.content_read |= is_same;
        Ok(is_same)
    }

    /// The object does not have a content any more that is read: it is read from where it is kept. If nobody has seen any of it yet, the new one is read
    /// instead.
    async fn find_content(&self, handle: &Handle, etag: Option<&str>) -> Result<()> {
        let ino = handle.ino;
        let (may_follow, place) = {
            let cache = self.lock();
            let node = cache.node(ino)?;
            (node.may_follow() || node.attr.etag.as_deref() != etag, cache.place(ino)?)
        };
        if may_follow {
            let found = self.0.source.stat(&place).await?;
            if self.lock().follow(ino, etag, Attr::of(&found)) {
                self.0.drop_from_kernel(vec![Stale::Attr(ino)]);
            }
            return Ok(());
        }
        self.reader(handle).await?.find_former().await
    }

    /// The current content on a disk of this machine, if available.
    async fn local(&self, handle: &Handle) -> Result<Option<Arc<LocalFile>>> {
        if !self.options().local {
            return Ok(None);
        }
        let attr = self.getattr(handle.ino).await?.attr;
        if let Some((etag, local)) = &*handle.local.lock().unwrap_or_else(PoisonError::into_inner)
            && *etag == attr.etag
        {
            return Ok(local.clone());
        }
        let (place, files) = (self.lock().place(handle.ino)?, &self.0.local);
        let local = match &attr.etag {
            Some(etag) => files.open(&self.0.source, &place, (etag, attr.size)).await,
            None => None,
        };
        let mut slot = handle.local.lock().unwrap_or_else(PoisonError::into_inner);
        *slot = Some((attr.etag, local.clone()));
        Ok(local)
    }

    /// The same of a handle, for the kernel; or its file in the disk cache, if that has all of it.
    pub(crate) async fn local_file(&self, handle: u64) -> Option<Arc<LocalFile>> {
        let handle = self.handle(handle).ok()?;
        match self.local(&handle).await.ok()? {
            Some(local) => Some(local),
            None => {
                let attr = self.getattr(handle.ino).await.ok()?.attr;
                let id = self.lock().place(handle.ino).ok()?.id;
                let kept = self.kept(id, attr.etag.as_deref(), attr.size)?;
                let whole = tokio::task::spawn_blocking(move || kept.whole()).await.ok()??;
                Some(Arc::new(LocalFile::of(whole, attr.size)))
            }
        }
    }

    /// A content in the disk cache.
    pub(crate) fn kept(&self, id: u64, etag: Option<&str>, size: u64) -> Option<Arc<Cached>> {
        self.0.disk.as_ref()?.content(id, etag?, size)
    }

    /// What reads the present content.
    async fn reader(&self, handle: &Handle) -> Result<Arc<Reader>> {
        let attr = self.getattr(handle.ino).await?.attr;
        let mut slot = handle.reader.lock().unwrap_or_else(PoisonError::into_inner);
        match &*slot {
            Some(reader) if reader.etag == attr.etag => Ok(Arc::clone(reader)),
            _ => {
                let place = self.lock().place(handle.ino)?;
                let kept = self.kept(place.id, attr.etag.as_deref(), attr.size);
                let remote = Remote::new(self.0.source.clone(), place, attr.etag);
                let with = (Arc::clone(&self.0.budget), Arc::clone(&self.0.leases));
                let reader = Reader::new((remote, attr.size), with, kept);
                Ok(Arc::clone(slot.insert(Arc::new(reader))))
            }
        }
    }

    /// Closes a file. What was written and not published is published, if that is possible now.
    pub async fn release(&self, handle: u64) {
        let Some(handle) = self.0.handles().remove(&handle) else { return };
        if handle.write
            && let Err(fault) = self.publish(handle.ino).await
        {
            (self.options().log.0)(&fault);
        }
        let idle = {
            let mut cache = self.lock();
            let Ok(node) = cache.node_mut(handle.ino) else { return };
            node.opened = node.opened.saturating_sub(1);
            node.writers = node.writers.saturating_sub(u32::from(handle.write));
            node.opened == 0 || (node.writers == 0 && !node.orphan)
        };
        if idle {
            self.drop_draft(handle.ino).await;
        }
        self.lock().forget(handle.ino, 0);
    }

    /// Nobody writes to a file any more.
    async fn drop_draft(&self, ino: Ino) {
        let Some(draft) = self.0.drafts().remove(&ino) else { return };
        let mut draft = draft.lock().await;
        if draft.is_dirty() {
            self.lose(ino);
        }
        draft.abandon().await;
    }

    /// Written data could not be published: the file reverts to its state in the store.
    fn lose(&self, ino: Ino) {
        let mut stale = vec![Stale::Content(ino)];
        {
            let mut cache = self.lock();
            let Ok(node) = cache.node_mut(ino) else { return };
            (node.dirty, node.doubtful, node.kept) = (false, true, None);
            if node.id.is_none() && !node.orphan {
                node.orphan = true;
                let (parent, name) = (node.parent, node.name.clone());
                cache.unlink(parent, &name, ino);
                stale.push(Stale::Entry(parent, name));
            }
        }
        self.0.drop_from_kernel(stale);
    }
}
