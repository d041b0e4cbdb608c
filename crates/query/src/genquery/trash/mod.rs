//! iRODS' trash: what the store's trash keeps, at the paths where iRODS' clients look for it.
//!
//! What USER removed is at `/trash/home/USER/PATH`, PATH being the path that it had, relative to USER's home if it was in there. The
//! parent collections are shown, but are not resources.
//!
//! Invariants: each removed resource that the caller could restore has one path, and no two have the same; a path is not that of a
//! resource of the tree that the caller sees (collections of an earlier iRODS' trash are in the tree).

mod layout;

use std::collections::{BTreeMap, HashMap};

use cenote_store::{Name, Reading, Removed, ResourceId, Result, Stat, StorePath, TrashItem};

/// The removed resources that a caller could restore, by path.
#[derive(Debug)]
pub struct Trash<'a> {
    reading: &'a Reading,
    nodes: BTreeMap<StorePath, Node>,
    paths: HashMap<ResourceId, StorePath>,
}

/// The resource at a path.
#[derive(Debug)]
enum Node {
    /// A parent collection of removed resources.
    Way(Box<Stat>),
    /// What was removed, and the collection that shows it.
    Item { id: ResourceId, parent: ResourceId },
}

/// Whether removed resources, or their parent collections, can be at this path.
pub fn is_in_trash(path: &StorePath) -> bool {
    match path.names() {
        [] => false,
        [trash] => trash.as_str() == "trash",
        [trash, home, ..] => trash.as_str() == "trash" && home.as_str() == "home",
    }
}

impl<'a> Trash<'a> {
    /// All that the caller of `reading` could restore.
    pub fn read(reading: &'a Reading) -> Result<Self> {
        let items: Result<Vec<_>> = reading.removed().filter_map(Result::transpose).collect();
        Self::new(reading, items?)
    }

    /// These removed resources.
    pub(super) fn new(reading: &'a Reading, items: Vec<TrashItem>) -> Result<Self> {
        let (nodes, paths) = layout::lay_out(reading, items)?;
        Ok(Self { reading, nodes, paths })
    }

    /// The resource at a path.
    pub fn stat(&self, path: &StorePath) -> Result<Option<Stat>> {
        match self.nodes.get(path) {
            Some(Node::Way(stat)) => Ok(Some((**stat).clone())),
            _ => Ok(self.removed(path)?.and_then(|removed| self.shown(&removed))),
        }
    }

    /// A removed resource, or one below it, that is shown at a path.
    pub fn removed(&self, path: &StorePath) -> Result<Option<Removed>> {
        let names = path.names();
        let item = (1..=names.len()).rev().find_map(|depth| {
            match self.nodes.get(&path.prefix(depth))? {
                Node::Item { id, .. } => Some((*id, depth)),
                Node::Way(_) => None,
            }
        });
        let Some((id, depth)) = item else { return Ok(None) };
        match self.reading.removed_with(id)? {
            Some(top) => top.find(self.reading, &names[depth..]),
            None => Ok(None),
        }
    }

    /// What was removed by itself and is shown at or below a path.
    pub fn items(&self, path: &StorePath) -> impl Iterator<Item = ResourceId> {
        self.nodes_from(path).filter_map(|(_, node)| match node {
            Node::Item { id, .. } => Some(*id),
            Node::Way(_) => None,
        })
    }

    /// The entry for the resource with this id, if it was removed.
    pub fn stat_of(&self, id: ResourceId) -> Result<Option<Stat>> {
        Ok(self.reading.removed_with(id)?.and_then(|removed| self.shown(&removed)))
    }

    /// Passes on what is shown below a path, or directly in it unless `deep`, in path order. None stands for a hidden resource,
    /// so that steps can be counted.
    pub fn below<E: From<cenote_store::Error>>(
        &self,
        path: &StorePath,
        deep: bool,
        take: &mut dyn FnMut(Option<Stat>) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(removed) = self.removed(path)? {
            return self.pass_on(&removed, deep, take);
        }
        let depth = path.names().len();
        let below = self.nodes_from(path).filter(|(at, _)| at.names().len() > depth);
        for (at, node) in below.filter(|(at, _)| deep || at.names().len() == depth + 1) {
            take(self.stat(at)?)?;
            if let (Node::Item { .. }, true, Some(item)) = (node, deep, self.removed(at)?) {
                self.pass_on(&item, deep, take)?;
            }
        }
        Ok(())
    }

    fn pass_on<E: From<cenote_store::Error>>(
        &self,
        removed: &Removed,
        deep: bool,
        take: &mut dyn FnMut(Option<Stat>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(top) = self.paths.get(&removed.item().id) else { return Ok(()) };
        for stat in removed.below(self.reading, top, deep)? {
            take(stat?)?;
        }
        Ok(())
    }

    fn nodes_from(&self, path: &StorePath) -> impl Iterator<Item = (&StorePath, &Node)> {
        let from = self.nodes.range(path.clone()..);
        let path = path.clone();
        from.take_while(move |(at, _)| at.starts_with(&path))
    }

    /// A removed resource where it is shown. What was removed by itself has the name and the collection that it has there.
    fn shown(&self, removed: &Removed) -> Option<Stat> {
        let id = removed.item().id;
        let path = self.paths.get(&id)?;
        let mut stat = removed.stat(path);
        if let (true, Some(Node::Item { parent, .. })) = (stat.id == id, self.nodes.get(path)) {
            stat.resource.parent = *parent;
            stat.resource.name = path.names().last().map(Name::to_string).unwrap_or_default();
        }
        Some(stat)
    }
}
