//! Which path each removed resource is shown at.
//!
//! A resource has the name that it had. Where that is the name of a collection on the way to another one, of one that was removed before
//! it, or of a resource of the tree, `.ID` is appended: so a path stays what it is while more is removed beside it, unless it
//! becomes that of a collection on the way. Where the tree has an object on the way, the resource is shown at the top.

use std::collections::{BTreeMap, HashMap};

use cenote_store::{
    Kind, Name, PersonId, Reading, Resource, ResourceId, Result, Stat, StorePath, Time, TrashItem,
};
use xxhash_rust::xxh3::xxh3_64;

use super::Node;

/// The nodes by path, and the paths of the items among them by id.
type Laid = (BTreeMap<StorePath, Node>, HashMap<ResourceId, StorePath>);

/// Parent collections of items: their owners, and when the last item below was removed.
type Ways = BTreeMap<StorePath, (PersonId, Time)>;

/// Lays out these items.
pub(super) fn lay_out(reading: &Reading, mut items: Vec<TrashItem>) -> Result<Laid> {
    items.sort_by_key(|item| (item.removed, item.id));
    let (mut names, mut tree) = (HashMap::new(), Tree { reading, kinds: HashMap::new() });
    let mut wanted = Vec::with_capacity(items.len());
    for item in &items {
        let user = match names.entry(item.removed_by) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(new) => {
                new.insert(reading.person_name(item.removed_by)?)
            }
        };
        wanted.push(tree.around(place(user, &item.path)?)?);
    }
    let mut layout = Layout::new(reading, ways(&items, &wanted))?;
    for (item, path) in items.iter().zip(wanted) {
        layout.place(item, path)?;
    }
    Ok((layout.nodes, layout.paths))
}

/// Where the resource formerly at `path` is to be shown, if nothing else is. One that is too deep for that is shown at the top.
fn place(user: &str, path: &str) -> Result<StorePath> {
    let trash: StorePath = format!("/trash/home/{user}").parse()?;
    let path: StorePath = path.parse()?;
    let own = trash.names()[1..].len();
    let is_own = path.names().starts_with(&trash.names()[1..]) && path.names().len() > own;
    let rest = &path.names()[if is_own { own } else { 0 }..];
    let whole = rest.iter().try_fold(trash.clone(), |path, name| path.join(name.clone()));
    match (whole, rest.last()) {
        (Err(_), Some(name)) => trash.join(name.clone()),
        (whole, _) => whole,
    }
}

/// What the tree has where removed resources are shown.
struct Tree<'a> {
    reading: &'a Reading,
    kinds: HashMap<StorePath, Option<Kind>>,
}

/// How many names the trash of one user has: `/trash/home/USER`.
const TOP: usize = 3;

impl Tree<'_> {
    /// This path; one at the top if one of its parents is not a collection.
    fn around(&mut self, path: StorePath) -> Result<StorePath> {
        for depth in TOP + 1..path.names().len() {
            let kind = self.kind(&path.prefix(depth))?;
            if kind.is_some_and(|kind| kind != Kind::Collection) {
                let name = path.names().last().expect("it is longer than the top");
                return path.prefix(TOP).join(name.clone());
            }
        }
        Ok(path)
    }

    /// The resource at a path. Nothing is read below resources that are not collections.
    fn kind(&mut self, path: &StorePath) -> Result<Option<Kind>> {
        if let Some(known) = self.kinds.get(path) {
            return Ok(*known);
        }
        let kind = match path.split_last() {
            Some((above, _)) if self.kind(&above)? != Some(Kind::Collection) => None,
            _ => self.reading.stat(&path.into())?.map(|stat| stat.resource.kind),
        };
        self.kinds.insert(path.clone(), kind);
        Ok(kind)
    }
}

fn ways(items: &[TrashItem], wanted: &[StorePath]) -> Ways {
    let mut ways = Ways::new();
    for (item, path) in items.iter().zip(wanted) {
        for depth in 1..path.names().len() {
            let way = ways.entry(path.prefix(depth)).or_insert((item.removed_by, item.removed));
            way.1 = way.1.max(item.removed);
        }
    }
    ways
}

struct Layout<'a> {
    reading: &'a Reading,
    nodes: BTreeMap<StorePath, Node>,
    paths: HashMap<ResourceId, StorePath>,
    /// The ids of the collections on the way, and whether they are resources with children.
    ways: HashMap<StorePath, (ResourceId, bool)>,
}

impl<'a> Layout<'a> {
    fn new(reading: &'a Reading, ways: Ways) -> Result<Self> {
        let (nodes, paths) = (BTreeMap::new(), HashMap::new());
        let mut layout = Self { reading, nodes, paths, ways: HashMap::new() };
        // Ancestors precede their descendants.
        for (path, (owner, time)) in ways {
            layout.way(path, owner, time)?;
        }
        Ok(layout)
    }

    fn way(&mut self, path: StorePath, owner: PersonId, time: Time) -> Result<()> {
        let (parent, name) = self.parent(&path);
        if let Some(there) = self.in_tree(&path)?.filter(|it| it.resource.kind == Kind::Collection)
        {
            let has_children = self.reading.children(&there.id.into())?.next().is_some();
            self.ways.insert(path, (there.id, has_children));
            return Ok(());
        }
        let id = number(&path);
        let resource = Resource::new(parent, &name, Kind::Collection, owner, time);
        self.nodes
            .insert(path.clone(), Node::Way(Box::new(Stat { id, path: path.clone(), resource })));
        self.ways.insert(path, (id, false));
        Ok(())
    }

    fn place(&mut self, item: &TrashItem, mut path: StorePath) -> Result<()> {
        while self.is_taken(&path)? {
            path = beside(&path, item.id)?;
        }
        let (parent, _) = self.parent(&path);
        self.nodes.insert(path.clone(), Node::Item { id: item.id, parent });
        self.paths.insert(item.id, path);
        Ok(())
    }

    fn is_taken(&self, path: &StorePath) -> Result<bool> {
        let known = self.ways.contains_key(path) || self.nodes.contains_key(path);
        Ok(known || self.in_tree(path)?.is_some())
    }

    /// What the tree has at a path. Nothing is read where its collection is not one of the tree, or has nothing in it.
    fn in_tree(&self, path: &StorePath) -> Result<Option<Stat>> {
        let above = path.split_last().and_then(|(above, _)| self.ways.get(&above).copied());
        match above {
            Some((_, false)) => Ok(None),
            _ => self.reading.stat(&path.into()),
        }
    }

    /// The collection that shows the resource at a path, and its name there.
    fn parent(&self, path: &StorePath) -> (ResourceId, Name) {
        let (above, name) = path.split_last().expect("everything here lies below /trash");
        let above = self.ways.get(&above).map_or(ResourceId::ROOT, |(id, _)| *id);
        (above, name.clone())
    }
}

/// The path with the number of a resource appended to its name, which is cut if it would become too long.
fn beside(path: &StorePath, id: ResourceId) -> Result<StorePath> {
    let (above, name) = path.split_last().expect("everything here lies below /trash");
    let suffix = format!(".{id}");
    let name = name.as_str();
    let most = name.len().min(Name::MAX - suffix.len());
    let end = (0..=most).rev().find(|end| name.is_char_boundary(*end)).unwrap_or_default();
    above.join(Name::new(format!("{}{suffix}", &name[..end]))?)
}

/// The number of a collection that is no resource: above those of all resources, and always the same.
fn number(path: &StorePath) -> ResourceId {
    ResourceId((1 << 62) | (xxh3_64(path.to_string().as_bytes()) >> 2))
}
