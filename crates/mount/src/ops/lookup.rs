//! Names and attributes.

use super::drafts::check_name;
use super::{Entry, FileSystem};
use crate::cache::{Cache, Ino, Lookup, Origin};
use crate::error::{Fault, Result};

/// After how many names that were looked up individually a directory is listed, if it has at most so many: the listing takes about as long as they did.
const LIST_AFTER: [(u32, u32); 3] = [(2, 1_000), (64, 10_000), (1_000, 100_000)];

impl FileSystem {
    /// What a name in a directory leads to; the kernel then has a reference to it.
    pub async fn lookup(&self, parent: Ino, name: &str) -> Result<Entry> {
        let ino = self.resolve(parent, name).await?;
        let entry = self.getattr(ino).await?;
        self.hold(ino);
        Ok(entry)
    }

    /// The attributes of an inode.
    pub async fn getattr(&self, ino: Ino) -> Result<Entry> {
        if let Some(entry) = self.cached_attr(ino)? {
            return Ok(entry);
        }
        let place = self.lock().place(ino)?;
        let found = self.0.source.stat(&place).await?;
        let mut cache = self.lock();
        cache.update(ino, &found);
        entry(&cache, ino, self.is_followed())
    }

    /// Where a link leads.
    pub async fn readlink(&self, ino: Ino) -> Result<String> {
        let attr = self.getattr(ino).await?.attr;
        attr.target.ok_or_else(|| Fault::new(libc::EINVAL, "not a link"))
    }

    /// The attributes of an inode, if they need not be requested.
    fn cached_attr(&self, ino: Ino) -> Result<Option<Entry>> {
        let cache = self.lock();
        let node = cache.node(ino)?;
        let is_current =
            node.id.is_none() || node.dirty || node.orphan || self.0.trusts(node.is_fresh());
        Ok(if is_current { Some(entry(&cache, ino, self.is_followed())?) } else { None })
    }

    /// The inode that a name leads to.
    pub(crate) async fn resolve(&self, parent: Ino, name: &str) -> Result<Ino> {
        check_name(name)?;
        let cached = self.lock().look_up(parent, name);
        match cached {
            Lookup::Present(ino) if self.trusts_name(ino) => return Ok(ino),
            Lookup::Absent if self.is_followed() => return Err(Fault::missing(name)),
            _ => {}
        }
        if self.lists_whole(parent)? {
            return self.resolve_listed(parent, name).await;
        }
        self.evict();
        if let Some(most) = self.listing_limit(parent)
            && self.list_small(parent, most).await?
        {
            return match self.lock().peek(parent, name) {
                Lookup::Present(ino) => Ok(ino),
                _ => Err(Fault::missing(name)),
            };
        }
        let (place, generation) = self.directory(parent)?;
        match self.0.source.child(&place, name).await? {
            Some(found) => Ok(self.lock().learn(parent, generation, &found).0),
            None => {
                self.lock().learn_absent(parent, generation, name);
                Err(Fault::missing(name))
            }
        }
    }

    /// Whether a name is known to be missing, and its creation will be reported. The kernel then caches that it is missing.
    pub fn lacks(&self, parent: Ino, name: &str) -> bool {
        let mut cache = self.lock();
        // If a name in the store is shown as another one, the kernel would not be notified of changes.
        self.is_followed() && !cache.is_numbered() && cache.may_cache_absence(parent, name)
    }

    /// Whether names in a directory are never looked up individually.
    pub(crate) fn lists_whole(&self, dir: Ino) -> Result<bool> {
        let cache = self.lock();
        Ok(cache.is_numbered() || cache.node(dir)?.origin == Origin::Mount)
    }

    async fn resolve_listed(&self, parent: Ino, name: &str) -> Result<Ino> {
        self.list_whole(parent).await?;
        match self.lock().peek(parent, name) {
            Lookup::Present(ino) => Ok(ino),
            _ => Err(Fault::missing(name)),
        }
    }

    fn trusts_name(&self, ino: Ino) -> bool {
        self.is_followed() || self.lock().node(ino).is_ok_and(|node| node.id.is_none())
    }

    /// How many names a directory may have so that it is worthwhile to list it, rather than to ask for another name.
    fn listing_limit(&self, parent: Ino) -> Option<u32> {
        let mut cache = self.lock();
        let children = cache.children_mut(parent)?;
        children.single_lookups += 1;
        let after = LIST_AFTER.iter().find(|(after, _)| *after == children.single_lookups);
        after.filter(|_| self.is_followed() && !self.0.source.is_past()).map(|(_, most)| *most)
    }

    /// Lists a directory if it has at most so many names.
    async fn list_small(&self, dir: Ino, most: u32) -> Result<bool> {
        let (place, generation) = self.directory(dir)?;
        match self.0.source.list_now(place.id, Some(most + 1)).await {
            Ok(found) if found.iter().map(Vec::len).sum::<usize>() <= most as usize => {
                Ok(self.lock().fill(dir, generation, found).is_none())
            }
            Ok(_) => Ok(false),
            // Looking up a name and listing all names are separate rights.
            Err(fault) if fault.errno == libc::EACCES => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    /// Evicts nodes that have not been used for long, if there are too many.
    pub(crate) fn evict(&self) {
        let stale = self.lock().evict();
        self.0.drop_from_kernel(stale);
    }

    /// A directory and the number of reported changes in it.
    pub(crate) fn directory(&self, ino: Ino) -> Result<(crate::source::Place, u64)> {
        let cache = self.lock();
        Ok((cache.place(ino)?, cache.generation(ino)))
    }

    /// The kernel gets a reference to an inode.
    pub(crate) fn hold(&self, ino: Ino) {
        self.lock().hold(ino);
    }
}

/// What is known of an inode.
pub(crate) fn entry(cache: &Cache, ino: Ino, followed: bool) -> Result<Entry> {
    let node = cache.node(ino)?;
    Ok(Entry { ino, attr: cache.shown(node), keep: followed && node.is_certain() })
}
