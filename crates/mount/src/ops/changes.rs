//! Changes of the tree.

use std::time::SystemTime;

use cenote_client::{
    At, Attributes, Destination, NewResource, Relocation, Removal, Resource, ResourceKind,
};
use jiff::Timestamp;

use super::drafts::check_name;
use super::{Entry, FileSystem};
use crate::attr::{FileKind, time};
use crate::cache::{Ino, Lookup, Origin};
use crate::error::{Fault, Result};

/// Attributes to set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SetAttr {
    /// Mode bits.
    pub mode: Option<u32>,
    /// The size of a file.
    pub size: Option<u64>,
    /// The modification time.
    pub mtime: Option<SystemTime>,
    /// The access time, which this mount shows until it ends.
    pub atime: Option<SystemTime>,
}

impl FileSystem {
    /// Makes a directory.
    pub async fn mkdir(&self, parent: Ino, name: &str, mode: u32) -> Result<Entry> {
        self.make(parent, name, ResourceKind::Collection, None, Some(mode & 0o7777)).await
    }

    /// Makes a link.
    pub async fn symlink(&self, parent: Ino, name: &str, target: &str) -> Result<Entry> {
        self.make(parent, name, ResourceKind::Link, Some(target.to_owned()), None).await
    }

    /// Makes an empty file.
    pub async fn mknod(&self, parent: Ino, name: &str, mode: u32) -> Result<Entry> {
        let (entry, opened) = self.create(parent, name, mode, true).await?;
        let outcome = self.flush(opened.handle).await;
        self.release(opened.handle).await;
        outcome?;
        self.getattr(entry.ino).await
    }

    async fn make(
        &self,
        parent: Ino,
        name: &str,
        kind: ResourceKind,
        target: Option<String>,
        mode: Option<u32>,
    ) -> Result<Entry> {
        self.require_writable()?;
        check_name(name)?;
        self.require_free_name(parent, name)?;
        self.require_names(parent)?;
        self.check_depth(parent)?;
        let (place, _) = self.directory(parent)?;
        let to = Destination::Child { parent: place.id, name: name.to_owned() };
        let new =
            NewResource { to, kind, target, parents: false, exist_ok: false, mode, mtime: None };
        let made = self.0.source.change(|| self.0.source.client.create(&new)).await?;
        let ino = self.made(parent, name, &made);
        if kind == ResourceKind::Collection
            && let Ok(node) = self.lock().node_mut(ino)
        {
            // It cannot contain anything yet that was not reported, and usually belongs to its creator.
            (node.children.complete, node.may_create) = (true, true);
        }
        self.hold(ino);
        self.getattr(ino).await
    }

    /// A resource was created by this mount.
    fn made(&self, parent: Ino, name: &str, made: &Resource) -> Ino {
        let mut cache = self.lock();
        let generation = cache.generation(parent);
        let (ino, _) = cache.learn(parent, generation, made);
        cache.link(parent, name, ino);
        cache.touch(parent, time(made.created));
        ino
    }

    /// Refuses a name that something has that is not in the store.
    fn require_free_name(&self, parent: Ino, name: &str) -> Result<()> {
        let cache = self.lock();
        match cache.peek(parent, name) {
            Lookup::Present(ino) if cache.node(ino)?.id.is_none() || cache.is_numbered() => {
                Err(Fault::new(libc::EEXIST, name))
            }
            _ => Ok(()),
        }
    }

    /// Removes a file or link.
    pub async fn unlink(&self, parent: Ino, name: &str) -> Result<()> {
        let (ino, kind) = self.to_remove(parent, name).await?;
        if kind == FileKind::Directory {
            return Err(Fault::new(libc::EISDIR, "a directory"));
        }
        self.preserve(ino).await?;
        self.remove(parent, name, ino).await.map_err(keeps_versions)
    }

    /// Removes an empty directory.
    pub async fn rmdir(&self, parent: Ino, name: &str) -> Result<()> {
        let (ino, kind) = self.to_remove(parent, name).await?;
        if kind != FileKind::Directory {
            return Err(Fault::new(libc::ENOTDIR, "not a directory"));
        }
        self.require_no_drafts(ino)?;
        self.require_no_numbered(ino)?;
        self.remove(parent, name, ino).await
    }

    /// Refuses to remove a numbered directory that has something.
    fn require_no_numbered(&self, dir: Ino) -> Result<()> {
        let cache = self.lock();
        let node = cache.node(dir)?;
        match node.origin == Origin::Numbered && !node.children.names.is_empty() {
            true => Err(Fault::new(libc::ENOTEMPTY, "the directory is not empty")),
            false => Ok(()),
        }
    }

    async fn to_remove(&self, parent: Ino, name: &str) -> Result<(Ino, FileKind)> {
        self.require_writable()?;
        let ino = self.resolve(parent, name).await?;
        self.require_names(parent)?;
        Ok((ino, self.lock().node(ino)?.attr.kind))
    }

    /// Refuses a directory with files that are not published yet.
    fn require_no_drafts(&self, dir: Ino) -> Result<()> {
        let cache = self.lock();
        let children = cache.children(dir).into_iter().flat_map(|it| it.names.values());
        let mut nodes = children.filter_map(|ino| cache.node(*ino).ok());
        match nodes.any(|node| node.id.is_none()) {
            true => Err(Fault::new(libc::ENOTEMPTY, "the directory is not empty")),
            false => Ok(()),
        }
    }

    async fn remove(&self, parent: Ino, name: &str, ino: Ino) -> Result<()> {
        let id = self.lock().node(ino)?.id;
        if let Some(id) = id {
            let client = &self.0.source.client;
            self.publishing_in(parent, 1);
            let removal = Removal::default();
            let removed = self.0.source.change(|| client.remove(At::Id(id), &removal)).await;
            self.publishing_in(parent, -1);
            removed?;
        }
        self.forget_name(parent, name, ino);
        Ok(())
    }

    fn publishing_in(&self, dir: Ino, more: i32) {
        if let Ok(node) = self.lock().node_mut(dir) {
            node.publishing = node.publishing.saturating_add_signed(more);
        }
    }

    fn forget_name(&self, parent: Ino, name: &str, ino: Ino) {
        let now = (self.options().now)();
        let mut cache = self.lock();
        cache.remove(parent, name, ino);
        cache.touch(parent, now);
    }

    /// Renames a file or directory; with `replace`, over an existing one.
    pub async fn rename(
        &self,
        (parent, name): (Ino, &str),
        (to, new_name): (Ino, &str),
        replace: bool,
    ) -> Result<()> {
        self.require_writable()?;
        check_name(new_name)?;
        let ino = self.resolve(parent, name).await?;
        self.require_movable((parent, ino), to)?;
        self.check_depth(to)?;
        let target = match self.resolve(to, new_name).await {
            Ok(target) => Some(target),
            Err(fault) if fault.errno == libc::ENOENT => None,
            Err(fault) => return Err(fault),
        };
        match target {
            Some(target) if target == ino => return Ok(()),
            Some(_) if !replace => return Err(Fault::new(libc::EEXIST, new_name)),
            Some(target) => self.check_replaced(ino, target).await?,
            None => {}
        }
        if self.lock().node(ino)?.id.is_none() {
            self.publish(ino).await?;
        }
        self.move_to(ino, (to, new_name), target).await
    }

    /// What is at a place stays there, and a numbered directory is none that can be moved. Between places something is copied.
    fn require_movable(&self, (parent, ino): (Ino, Ino), to: Ino) -> Result<()> {
        self.require_names(parent)?;
        self.require_names(to)?;
        let cache = self.lock();
        cache.place(ino).map(drop).or_else(|fault| match cache.node(ino)?.origin {
            Origin::Store => Ok(()),
            _ => Err(fault),
        })?;
        cache.place(to)?;
        match cache.tree_of(ino) == cache.tree_of(to) {
            true => Ok(()),
            false if self.options().is_dxfuse() => {
                Err(Fault::new(libc::EPERM, "nothing is moved between places"))
            }
            false => Err(Fault::new(libc::EXDEV, "nothing is moved between places")),
        }
    }

    /// A file replaces a file, and a directory an empty directory.
    async fn check_replaced(&self, ino: Ino, target: Ino) -> Result<()> {
        let (source, replaced) = {
            let cache = self.lock();
            (cache.node(ino)?.attr.kind, cache.node(target)?.attr.kind)
        };
        match (source, replaced) {
            (FileKind::Directory, FileKind::Directory) => self.require_no_drafts(target),
            (FileKind::Directory, _) => Err(Fault::new(libc::ENOTDIR, "not a directory")),
            (_, FileKind::Directory) => Err(Fault::new(libc::EISDIR, "a directory")),
            _ => self.preserve(target).await,
        }
    }

    async fn move_to(
        &self,
        ino: Ino,
        (to, new_name): (Ino, &str),
        target: Option<Ino>,
    ) -> Result<()> {
        let (place, _) = self.directory(to)?;
        let id = self.lock().place(ino)?.id;
        let relocation = Relocation {
            from: At::Id(id),
            to: Destination::Child { parent: place.id, name: new_name.to_owned() },
            replace: target.is_some(),
            parents: false,
            versions: false,
        };
        let moved = self.0.source.change(|| self.0.source.client.relocate(&relocation)).await;
        let moved = moved.map_err(|fault| match self.is_file(target) {
            true => keeps_versions(fault),
            false => fault,
        })?;
        let now = (self.options().now)();
        let mut cache = self.lock();
        let parent = cache.node(ino)?.parent;
        if let Some(target) = target {
            cache.remove(to, new_name, target);
        }
        cache.rename(ino, to, new_name);
        cache.update(ino, &moved);
        cache.touch(parent, now);
        cache.touch(to, now);
        Ok(())
    }

    fn is_file(&self, ino: Option<Ino>) -> bool {
        let cache = self.lock();
        let node = ino.and_then(|ino| cache.node(ino).ok());
        node.is_some_and(|node| node.attr.kind != FileKind::Directory)
    }

    /// Sets attributes.
    pub async fn setattr(&self, ino: Ino, set: SetAttr) -> Result<Entry> {
        self.require_changeable(ino)?;
        self.lock().require_present(ino)?;
        if let Some(size) = set.size {
            match self.getattr(ino).await?.attr.kind {
                FileKind::File if !self.can_change(ino)? => {
                    return Err(Fault::new(libc::EOPNOTSUPP, "files are not written anew"));
                }
                FileKind::File => self.resize(ino, size).await?,
                _ => return Err(Fault::new(libc::EISDIR, "not a file")),
            }
        }
        if let Some(atime) = set.atime {
            self.lock().node_mut(ino)?.accessed = Some(atime);
        }
        if let Some((id, stored)) = self.set_in_draft(ino, &set)? {
            self.set_in_store((ino, id), &stored).await?;
        }
        self.getattr(ino).await
    }

    /// Clears the setuid and setgid bits, since another user changes the file: setgid of a file that the group may not run
    /// only where that user is known to be of another group.
    pub async fn drop_privileges(&self, ino: Ino, group: Option<u32>) -> Result<()> {
        let mode = self.getattr(ino).await?.attr.mode;
        let is_member = group.is_none_or(|group| group == self.options().owner.gid);
        match without_privileges(mode, is_member) {
            kept if kept == mode => Ok(()),
            kept => self
                .setattr(ino, SetAttr { mode: Some(kept), ..SetAttr::default() })
                .await
                .map(drop),
        }
    }

    /// Notes attributes of a file that is published later, and returns those that can be set in the store before that: the mode of
    /// an object, since who may not set it has to be refused now. The id of the object is read with that decision: a reported removal
    /// takes it from a draft at any time.
    fn set_in_draft(&self, ino: Ino, set: &SetAttr) -> Result<Option<(u64, SetAttr)>> {
        let now = (self.options().now)();
        let mut cache = self.lock();
        if !cache.node(ino)?.dirty {
            let is_stored = set.mode.is_some() || set.mtime.is_some();
            return is_stored.then(|| Ok((cache.place(ino)?.id, *set))).transpose();
        }
        let node = cache.node_mut(ino)?;
        node.attr.mtime = set.mtime.unwrap_or(node.attr.mtime);
        node.attr.ctime = now;
        if let Some(id) = node.id.filter(|_| !node.orphan) {
            let stored = SetAttr { mode: set.mode, ..SetAttr::default() };
            return Ok(set.mode.map(|_| (id, stored)));
        }
        node.set_mode(set.mode);
        Ok(None)
    }

    async fn set_in_store(&self, (ino, id): (Ino, u64), set: &SetAttr) -> Result<()> {
        let at = At::Id(id);
        let mtime = set.mtime.and_then(|mtime| Timestamp::try_from(mtime).ok());
        let mode = set.mode.map(|mode| mode & 0o7777);
        let attributes = Attributes { mode, mtime, ..Attributes::default() };
        self.publishing_in(ino, 1);
        let client = &self.0.source.client;
        let source = &self.0.source;
        let found = source.insist(|| source.within(client.set_attributes(&at, &attributes))).await;
        self.publishing_in(ino, -1);
        let mut cache = self.lock();
        let node = cache.node_mut(ino)?;
        let found = match found {
            Ok(found) => found,
            // The object was removed by others: the draft is a new file, which gets the mode once it is published.
            Err(fault) if fault.errno == libc::ENOENT && node.dirty => {
                node.set_mode(mode);
                return Ok(());
            }
            Err(fault) => return Err(fault),
        };
        cache.update(ino, &found);
        let node = cache.node_mut(ino)?;
        // For a file being written, nothing else is updated.
        node.attr.mode = mode.unwrap_or(node.attr.mode);
        Ok(())
    }
}

/// Without `S_ISUID`, and without `S_ISGID` where the group may run it, or a member of the group does not change it.
fn without_privileges(mode: u32, is_member: bool) -> u32 {
    let keeps_group = is_member && mode & libc::S_IXGRP == 0;
    mode & !(libc::S_ISUID | if keeps_group { 0 } else { libc::S_ISGID })
}

/// A file whose kept versions would be lost with it is not removed.
fn keeps_versions(fault: Fault) -> Fault {
    match fault.errno {
        libc::ENOTEMPTY => Fault::warning(libc::EPERM, fault.message),
        _ => fault,
    }
}
