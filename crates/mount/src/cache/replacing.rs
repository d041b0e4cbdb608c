//! Files whose content others replace while programs of this machine read them.
//!
//! Invariant: as long as a file is open, and only for reading, its inode stands for one content. If others replace that, the name leads to another inode
//! from then on, as after a rename over the file on a local disk, and what is open keeps its content, its size and the pages that the kernel has of it.

use super::{Cache, Ino, Node, Stale};
use crate::attr::{Attr, FileKind};
use crate::error::{Fault, Result};

impl Cache {
    /// Where the resource of a file is known from now on whose content was reported to be replaced; the kernel drops either the name or the content.
    pub(super) fn rewritten(&mut self, ino: Ino) -> Stale {
        match self.nodes.get(&ino).filter(|node| node.is_only_read()) {
            Some(node) => {
                let name = Stale::Entry(node.parent, node.name.clone());
                self.replace(ino);
                name
            }
            None => Stale::Content(ino),
        }
    }

    /// The inode for attributes that the server sent: another one, if the content is not that of programs that read it.
    pub(super) fn renewed(&mut self, ino: Ino, attr: &Attr) -> Ino {
        let replaced = |node: &&Node| {
            node.is_only_read()
                && node.attr.etag != attr.etag
                && node.attr.revision <= attr.revision
        };
        let Some(node) = self.nodes.get(&ino).filter(replaced) else { return ino };
        let name = Stale::Entry(node.parent, node.name.clone());
        let present = self.replace(ino);
        if let Some(drops) = &self.drops {
            // Without a kernel there is no receiver.
            let _no_kernel = drops.send(name);
        }
        present
    }

    /// Gives the resource of an inode another inode, which has the name now.
    fn replace(&mut self, ino: Ino) -> Ino {
        let present = self.next_local;
        let Some(old) = self.nodes.get_mut(&ino) else { return ino };
        self.next_local += 1;
        (old.orphan, old.replaced) = (true, true);
        let (tree, parent, name, id) = (old.tree, old.parent, old.name.clone(), old.id);
        let mut node = Node::new((tree, parent), &name, old.attr.clone());
        (node.id, node.reported, node.doubtful) = (id, old.reported, old.doubtful);
        node.facts = old.facts.clone();
        self.nodes.insert(present, node);
        self.replaced.insert(ino);
        self.aliases.extend(id.map(|id| ((tree, id), present)));
        if let Some(top) = self.tops.get_mut(tree as usize).filter(|top| top.ino == ino) {
            top.ino = present;
        }
        if self.unlink(parent, &name, ino) {
            self.link(parent, &name, present);
        }
        present
    }

    /// Refuses an inode that its name does not lead to any more. The kernel then looks the name up again.
    pub(crate) fn require_present(&self, ino: Ino) -> Result<()> {
        match self.node(ino)?.replaced {
            true => Err(Fault::new(libc::ESTALE, "the content of the file was replaced")),
            false => Ok(()),
        }
    }

    /// Whether a name leads to another inode by now, or to none.
    pub(crate) fn is_gone(&self, ino: Ino) -> bool {
        self.nodes.get(&ino).is_none_or(|node| node.orphan)
    }

    /// Takes over the present content for an inode whose content has this tag, if nobody has seen any of that yet, or programs write to it; returns
    /// whether it did.
    pub(crate) fn follow(&mut self, ino: Ino, etag: Option<&str>, attr: Attr) -> bool {
        let Some(node) = self.nodes.get_mut(&ino) else { return false };
        if node.attr.etag.as_deref() != etag || !node.may_follow() {
            return false;
        }
        node.update(attr);
        true
    }
}

impl Node {
    /// Whether programs of this machine have it open, and none of them can change it.
    fn is_only_read(&self) -> bool {
        let is_written = self.writers > 0 || self.dirty || self.publishing > 0;
        let is_file = self.attr.kind == FileKind::File && self.id.is_some() && !self.orphan;
        is_file && self.opened > 0 && !is_written
    }

    /// Whether it can stand for another content while it is open.
    pub(crate) fn may_follow(&self) -> bool {
        !self.replaced && (!self.content_read || self.writers > 0)
    }
}

#[cfg(test)]
mod tests {
    use cenote_client::Resource;

    use super::*;
    use crate::cache::{Lookup, ROOT};

    fn resource(id: u64, etag: &str, revision: u64) -> Resource {
        let json = serde_json::json!({
            "id": id, "path": "/a", "name": "a", "kind": "object", "size": 5, "etag": etag,
            "state": format!("\"r{id}.{revision}\""),
        });
        serde_json::from_value(json).unwrap()
    }

    fn cache() -> (Cache, Ino) {
        let directory = Attr { kind: FileKind::Directory, ..Attr::of(&resource(1, "", 1)) };
        let mut cache = Cache::new("/", (1, directory), 1_000);
        let (ino, _) = cache.learn(ROOT, 0, &resource(7, "one", 1));
        (cache, ino)
    }

    #[test]
    fn a_content_that_is_read_keeps_its_inode_and_its_successor_gets_another_one() {
        let (mut cache, ino) = cache();
        cache.node_mut(ino).unwrap().opened = 1;
        cache.update(ino, &resource(7, "two", 2));
        let Lookup::Present(present) = cache.peek(ROOT, "a") else { panic!("it has a name") };
        assert_ne!(present, ino);
        let etag = |cache: &Cache, ino| cache.node(ino).unwrap().attr.etag.clone();
        assert_eq!(etag(&cache, ino).as_deref(), Some("one"));
        assert_eq!(etag(&cache, present).as_deref(), Some("two"));
        assert!(cache.require_present(ino).is_err() && cache.require_present(present).is_ok());
        // What is learned by its id from now on is about the successor.
        cache.learn(ROOT, 0, &resource(7, "three", 3));
        assert_eq!(etag(&cache, ino).as_deref(), Some("one"));
        assert_eq!(etag(&cache, present).as_deref(), Some("three"));
        cache.node_mut(ino).unwrap().opened = 0;
        cache.forget(ino, 0);
        assert!(cache.node(ino).is_err() && cache.is_gone(ino));
        assert_eq!(cache.peek(ROOT, "a"), Lookup::Present(present));
    }

    #[test]
    fn a_file_that_is_not_open_or_is_written_keeps_its_inode() {
        let writes: [fn(&mut Node); 4] = [
            |node| node.opened = 0,
            |node| node.writers = 1,
            |node| node.publishing = 1,
            |node| node.attr.etag = Some("two".to_owned()),
        ];
        for change in writes {
            let (mut cache, ino) = cache();
            let node = cache.node_mut(ino).unwrap();
            node.opened = 1;
            change(node);
            cache.update(ino, &resource(7, "two", 2));
            assert_eq!(cache.peek(ROOT, "a"), Lookup::Present(ino));
            assert_eq!(cache.node(ino).unwrap().attr.etag.as_deref(), Some("two"));
        }
    }

    #[test]
    fn only_a_content_that_nobody_has_seen_is_followed_by_another_one() {
        let (mut cache, ino) = cache();
        cache.node_mut(ino).unwrap().opened = 1;
        let two = || Attr::of(&resource(7, "two", 2));
        assert!(!cache.follow(ino, Some("another"), two()));
        assert!(cache.follow(ino, Some("one"), two()));
        cache.node_mut(ino).unwrap().content_read = true;
        assert!(!cache.follow(ino, Some("two"), Attr::of(&resource(7, "three", 3))));
        assert_eq!(cache.node(ino).unwrap().attr.etag.as_deref(), Some("two"));
    }
}
