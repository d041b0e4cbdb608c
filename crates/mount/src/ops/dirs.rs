//! Listings.

use std::sync::Arc;

use super::FileSystem;
use crate::attr::{Attr, FileKind};
use crate::cache::{Ino, Node, ROOT};
use crate::error::{Fault, Result};

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// The number of its inode.
    pub ino: Ino,
    /// The name.
    pub name: String,
    /// Its attributes when it was listed, without its tag and where it leads; see [`FileSystem::present`].
    pub attr: Attr,
    /// Whether the kernel might keep them then.
    pub keep: bool,
}

/// A directory that a program has open.
#[derive(Debug)]
pub(crate) struct OpenDirectory {
    ino: Ino,
    listing: Arc<Vec<DirEntry>>,
    /// Whether a program has begun to read it.
    is_read: bool,
}

impl FileSystem {
    /// Opens a directory, and lists it, so that a failure is reported here.
    pub async fn opendir(&self, ino: Ino) -> Result<u64> {
        if self.getattr(ino).await?.attr.kind != FileKind::Directory {
            return Err(Fault::new(libc::ENOTDIR, "not a directory"));
        }
        // It stays in the cache while it is open.
        self.opens(ino, 1);
        match self.entries(ino).await {
            Ok(entries) => {
                let handle = self.number();
                let open = OpenDirectory { ino, listing: Arc::new(entries), is_read: false };
                self.0.listings().insert(handle, open);
                Ok(handle)
            }
            Err(fault) => {
                self.opens(ino, -1);
                Err(fault)
            }
        }
    }

    fn opens(&self, dir: Ino, more: i32) {
        let mut cache = self.lock();
        if let Ok(node) = cache.node_mut(dir) {
            node.opened = node.opened.saturating_add_signed(more);
        }
        cache.use_directory(dir);
        cache.forget(dir, 0);
    }

    /// What an open directory has at this moment, with `.` and `..` first: a program reads it from the beginning, perhaps again (`rewinddir`).
    pub async fn list_again(&self, handle: u64) -> Result<Arc<Vec<DirEntry>>> {
        let (ino, was_read) = {
            let mut listings = self.0.listings();
            let open = listings.get_mut(&handle).ok_or_else(not_open)?;
            (open.ino, std::mem::replace(&mut open.is_read, true))
        };
        let entries = match self.cached_entries(ino)? {
            Some(entries) => entries,
            // Whether it is still true is not known, but it was listed when it was opened.
            None if !was_read && !self.is_followed() => return self.listing(handle),
            None => self.entries(ino).await?,
        };
        let mut listings = self.0.listings();
        let open = listings.get_mut(&handle).ok_or_else(not_open)?;
        open.listing = Arc::new(entries);
        Ok(Arc::clone(&open.listing))
    }

    /// The listing that [`list_again`](Self::list_again) has begun, or that of when the directory was opened.
    pub fn listing(&self, handle: u64) -> Result<Arc<Vec<DirEntry>>> {
        let listings = self.0.listings();
        listings.get(&handle).map(|open| Arc::clone(&open.listing)).ok_or_else(not_open)
    }

    /// Closes a directory.
    pub fn releasedir(&self, handle: u64) {
        let open = self.0.listings().remove(&handle);
        if let Some(open) = open {
            self.opens(open.ino, -1);
        }
    }

    /// The kernel gets a reference to an inode of a listing.
    pub fn listed(&self, ino: Ino) {
        self.hold(ino);
    }

    /// The attributes that an entry of a listing has by now, and whether the kernel may keep them. The kernel takes them for those of the moment when it
    /// reads the entry: older ones would undo what it knows of later changes, such as the size of a file that was written to.
    pub fn present(&self, listed: &DirEntry) -> (Attr, bool) {
        let cache = self.lock();
        match cache.node(listed.ino) {
            Ok(node) => {
                let keep = listed.keep && node.is_certain() && !cache.is_gone(listed.ino);
                (cache.listed(node), keep && self.is_followed())
            }
            // No program has it open: the kernel refers to no inode that is not known.
            Err(_) => (listed.attr.clone(), false),
        }
    }

    async fn entries(&self, ino: Ino) -> Result<Vec<DirEntry>> {
        if self.lists_whole(ino)? {
            self.list_whole(ino).await?;
            return self.cached_entries_of(ino)?.ok_or_else(|| Fault::missing("the directory"));
        }
        if let Some(entries) = self.cached_entries(ino)? {
            return Ok(entries);
        }
        self.evict();
        let (place, generation) = self.directory(ino)?;
        let found = self.0.source.list(&place).await?;
        let mut cache = self.lock();
        let Some(names) = cache.fill(ino, generation, found) else {
            drop(cache);
            let entries = self.cached_entries_of(ino)?;
            return entries.ok_or_else(|| Fault::warning(libc::EIO, "a listing was lost"));
        };
        // Something changed meanwhile: this listing is still valid to return, but is not cached.
        let mut entries = self.dots(&cache, ino)?;
        for (name, child) in names {
            let attr = cache.listed(cache.node(child)?);
            entries.push(DirEntry { ino: child, name, attr, keep: false });
        }
        Ok(entries)
    }

    /// The entries, if the listing is known and all attributes are fresh.
    fn cached_entries(&self, ino: Ino) -> Result<Option<Vec<DirEntry>>> {
        let usable = {
            let cache = self.lock();
            let children = &cache.node(ino)?.children;
            let fresh = |child: &Ino| cache.node(*child).is_ok_and(Node::is_certain);
            self.is_followed() && children.complete && children.names.values().all(fresh)
        };
        if usable { self.cached_entries_of(ino) } else { Ok(None) }
    }

    fn cached_entries_of(&self, ino: Ino) -> Result<Option<Vec<DirEntry>>> {
        let cache = self.lock();
        let (mut entries, names) = (self.dots(&cache, ino)?, &cache.node(ino)?.children.names);
        entries.reserve(names.len());
        for (name, child) in names {
            let Ok(node) = cache.node(*child) else { continue };
            let (attr, keep) = (cache.listed(node), self.is_followed() && node.is_certain());
            entries.push(DirEntry { ino: *child, name: name.clone(), attr, keep });
        }
        Ok(Some(entries))
    }

    fn dots(&self, cache: &crate::cache::Cache, ino: Ino) -> Result<Vec<DirEntry>> {
        let node = cache.node(ino)?;
        let parent = if ino == ROOT { ROOT } else { node.parent };
        let above = cache.node(parent).unwrap_or(node);
        let dot = |ino, name: &str, node: &Node| DirEntry {
            ino,
            name: name.to_owned(),
            attr: cache.listed(node),
            keep: false,
        };
        Ok(vec![dot(ino, ".", node), dot(parent, "..", above)])
    }
}

fn not_open() -> Fault {
    Fault::new(libc::EBADF, "the directory is not open")
}
