//! Numbered directories, which have the objects of a directory whose names others have already.
//!
//! Invariant: a directory and its numbered directories are listed together, so that they are complete together.

use std::collections::{HashMap, HashSet};

use super::{Cache, Ino, Lookup, Node, Origin};
use crate::attr::{Attr, FileKind};
use crate::dxfuse::{Facts, Names};
use crate::found::{Found, Listing};
use crate::layout::numbered::{Item, Slot, arrange};

impl Cache {
    /// Shows objects of one name in numbered directories from now on, and the modes of dxfuse.
    pub(crate) fn number(&mut self, overwrite: bool) {
        self.numbered = true;
        self.modes = Some((0o777, if overwrite { 0o644 } else { 0o444 }));
    }

    pub(crate) fn is_numbered(&self) -> bool {
        self.numbered
    }

    /// The directory whose listing includes the entries of this one.
    pub(crate) fn listed_with(&self, dir: Ino) -> Ino {
        match self.nodes.get(&dir) {
            Some(node) if node.origin == Origin::Numbered => node.parent,
            _ => dir,
        }
    }

    /// Whether all names in a directory and its numbered directories are known.
    pub(crate) fn is_listed(&self, dir: Ino) -> bool {
        let complete = |ino: Ino| self.children(ino).is_some_and(|children| children.complete);
        complete(dir) && self.numbered_in(dir).into_values().all(complete)
    }

    /// The numbered directories of a directory, by number.
    fn numbered_in(&self, dir: Ino) -> HashMap<u32, Ino> {
        let names = self.children(dir).into_iter().flat_map(|children| &children.names);
        let numbered = names.filter(|(_, ino)| {
            self.nodes.get(ino).is_some_and(|node| node.origin == Origin::Numbered)
        });
        numbered.filter_map(|(name, ino)| Some((name.parse().ok()?, *ino))).collect()
    }

    /// Records a listing with its properties in the DNAnexus opening. If a change was reported meanwhile, it is not
    /// complete.
    pub(crate) fn fill_numbered(
        &mut self,
        (dir, generation): (Ino, u64),
        found: &Listing,
        names: &Names,
    ) -> bool {
        let found: Vec<(&Found, Option<&Facts>)> =
            found.iter().flatten().filter_map(|found| Some((found, names.of(found)?))).collect();
        let current = self.generation(dir) == generation;
        let items: Vec<Item> =
            found.iter().map(|(found, facts)| self.item(dir, found, *facts)).collect();
        let slots = arrange(&items);
        self.clear_listed(dir);
        for (((found, facts), item), slot) in found.into_iter().zip(items).zip(slots) {
            let parent = match slot {
                Slot::Top => dir,
                Slot::Numbered(number) => self.numbered_dir(dir, number),
            };
            if self.is_being_created(parent, &item.name) {
                continue;
            }
            let ino = self.upsert(parent, &item.name, found.clone());
            self.link(parent, &item.name, ino);
            if let Some(node) = self.nodes.get_mut(&ino) {
                node.facts = facts.cloned().map(Box::new);
            }
        }
        self.end_listing(dir, current);
        current
    }

    /// Whether a name is that of a file being created through this mount: the listed entry may be that file already.
    fn is_being_created(&self, dir: Ino, name: &str) -> bool {
        match self.peek(dir, name) {
            Lookup::Present(ino) => self
                .nodes
                .get(&ino)
                .is_some_and(|node| node.id.is_none() && node.origin == Origin::Store),
            _ => false,
        }
    }

    fn item(&self, dir: Ino, found: &Found, facts: Option<&Facts>) -> Item {
        let name = facts.map_or(&found.name, |facts| &facts.shown).clone();
        let created = found.created.map_or(0, |created| created.as_millisecond());
        let created = facts.map_or(created, |facts| facts.created);
        let is_directory = found.attr.kind == FileKind::Directory;
        let node = self.nodes.get(&self.ino_of(self.tree_of(dir), found.id));
        let shown =
            node.filter(|node| node.name == name).and_then(|node| self.slot(dir, node.parent));
        Item { name, is_directory, age: (created, found.id), shown }
    }

    /// Where in a directory something is whose parent is known.
    fn slot(&self, dir: Ino, parent: Ino) -> Option<Slot> {
        if parent == dir {
            return Some(Slot::Top);
        }
        let node = self.nodes.get(&parent)?;
        let is_here = node.origin == Origin::Numbered && node.parent == dir && !node.orphan;
        is_here.then(|| node.name.parse().ok().map(Slot::Numbered)).flatten()
    }

    /// Forgets the names in a directory and its numbered directories, but for those of files that are being created here.
    fn clear_listed(&mut self, dir: Ino) {
        let numbered: HashSet<Ino> = self.numbered_in(dir).into_values().collect();
        let local = |node: &Node| node.id.is_none() && !node.orphan;
        let stays: HashSet<Ino> = self
            .children(dir)
            .into_iter()
            .flat_map(|children| children.names.values())
            .copied()
            .filter(|ino| self.nodes.get(ino).is_some_and(local))
            .collect();
        if let Some(children) = self.children_mut(dir) {
            children.names.retain(|_, ino| stays.contains(ino));
            children.absent.clear();
        }
        for ino in numbered {
            if let Some(children) = self.children_mut(ino) {
                children.names.clear();
            }
        }
    }

    fn numbered_dir(&mut self, dir: Ino, number: u32) -> Ino {
        let name = number.to_string();
        if let Some(ino) = self.numbered_in(dir).get(&number) {
            return *ino;
        }
        let attr =
            self.nodes.get(&dir).map(|node| Attr { etag: None, revision: 0, ..node.attr.clone() });
        let Some(attr) = attr else { return dir };
        let ino = self.create(dir, &name, attr);
        if let Some(node) = self.nodes.get_mut(&ino) {
            node.origin = Origin::Numbered;
        }
        ino
    }

    /// Marks the listed entries, and drops the numbered directories that are now empty.
    fn end_listing(&mut self, dir: Ino, complete: bool) {
        for (number, ino) in self.numbered_in(dir) {
            let Some(children) = self.children_mut(ino) else { continue };
            children.complete = complete;
            if children.names.is_empty() {
                self.remove(dir, &number.to_string(), ino);
            }
        }
        if let Some(children) = self.children_mut(dir) {
            children.complete = complete;
        }
    }
}
