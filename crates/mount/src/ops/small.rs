//! Reading many small files of a directory.

use bytes::Bytes;
use cenote_client::SmallContent;

use super::FileSystem;
use crate::attr::FileKind;
use crate::cache::{Cache, Ino, Node, Stale};
use crate::disk::Arrival;
use crate::error::Result;
use crate::read::small::{BATCH, LARGEST};

impl FileSystem {
    /// The content of a small file, if it was read ahead, or is read now together with others.
    pub(crate) async fn read_small(&self, ino: Ino) -> Result<Option<Bytes>> {
        if !self.is_followed() || self.0.source.is_past() {
            return Ok(None);
        }
        let (id, etag, ids) = {
            let cache = self.lock();
            let node = cache.node(ino)?;
            let (Some(id), Some(etag)) = (node.id, node.attr.etag.clone()) else { return Ok(None) };
            if !is_small(node) {
                return Ok(None);
            }
            if let Some(bytes) = self.0.small.get(id, &etag) {
                return Ok(Some(bytes));
            }
            let kept = self.kept(id, Some(&etag), node.attr.size);
            if let Some(bytes) = kept.and_then(|kept| kept.read(&(0..node.attr.size))) {
                return Ok(Some(bytes));
            }
            let files = self.0.small.worthwhile(node.parent);
            (id, etag, self.siblings(&cache, node, files))
        };
        if ids.len() < 2 {
            return Ok(None);
        }
        let source = &self.0.source;
        let found = source.insist(|| source.within(source.client.small_contents(&ids))).await?;
        self.keep_small(&found);
        self.0.small.keep(found);
        Ok(self.0.small.get(id, &etag))
    }

    /// The ids of a small file and of those after it in its directory that were not read ahead: at most so many.
    fn siblings(&self, cache: &Cache, node: &Node, files: usize) -> Vec<u64> {
        if files < 2 {
            return Vec::new();
        }
        let Some(children) = cache.children(node.parent) else { return Vec::new() };
        let after = children.names.range(node.name.clone()..).map(|(_, ino)| *ino);
        let small = after.filter_map(|ino| cache.node(ino).ok()).filter(|node| is_small(node));
        let mut bytes = 0;
        let within = small.filter(|node| !self.is_ahead(node)).take_while(|node| {
            bytes += node.attr.size;
            bytes <= BATCH
        });
        within.filter_map(|node| node.id).take(files).collect()
    }

    fn is_ahead(&self, node: &Node) -> bool {
        let known = node.id.zip(node.attr.etag.as_deref());
        known.is_some_and(|(id, etag)| self.0.small.has(id, etag))
    }

    /// The tag and the content of a small file that was read ahead, if the kernel has no pages of it that it waits for: if it is open once.
    pub(crate) fn read_ahead(&self, ino: Ino) -> Option<(String, Bytes)> {
        let (id, etag) = {
            let cache = self.lock();
            let node = cache.node(ino).ok().filter(|node| node.opened == 1 && is_small(node))?;
            (node.id?, node.attr.etag.clone()?)
        };
        let bytes = self.0.small.get(id, &etag).filter(|_| self.is_followed())?;
        Some((etag, bytes))
    }

    /// The kernel was given the content with this tag; it drops that again if the file has changed meanwhile.
    pub(crate) fn gave(&self, ino: Ino, etag: &str) {
        let is_current = |node: &mut Node| {
            node.content_read = true;
            is_small(node) && node.attr.etag.as_deref() == Some(etag)
        };
        if !self.lock().node_mut(ino).is_ok_and(is_current) {
            self.0.drop_from_kernel(vec![Stale::Content(ino)]);
        }
    }

    /// Stores small contents in the disk cache, if there is one.
    fn keep_small(&self, found: &[SmallContent]) {
        let Some(disk) = &self.0.disk else { return };
        let arrived = found.iter().filter_map(|found| {
            let content = disk.content(found.id, &found.etag, found.bytes.len() as u64)?;
            Some(Arrival { content, offset: 0, parts: vec![found.bytes.clone()] })
        });
        disk.keep(arrived.collect());
    }
}

fn is_small(node: &Node) -> bool {
    let fits = (1..=LARGEST).contains(&node.attr.size);
    fits && node.attr.kind == FileKind::File && node.is_fresh() && !node.dirty
}
