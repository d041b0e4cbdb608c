//! The trash against the model: a removed tree is the nodes below its path, put aside.

use super::*;

/// A removed tree that can be restored: the paths of its nodes are below its own.
#[derive(Debug, Clone)]
pub(super) struct Trashed {
    pub(super) id: u64,
    parent: u64,
    path: StorePath,
    nodes: Vec<(StorePath, Node)>,
    /// Trees removed later have a larger one.
    order: u64,
    /// The nearest collection with a limit when it was removed.
    limited_by: Option<u64>,
}

impl Trashed {
    fn bytes(&self) -> u64 {
        self.nodes.iter().map(|(_, node)| node.bytes.len() as u64).sum()
    }
}

impl Model {
    /// Whether a resource removed at `at` is kept in the trash.
    pub(super) fn retains(&self, at: &StorePath) -> bool {
        let mut next = Some(at.clone());
        while let Some(path) = next {
            if let Some(retains) = self.nodes.get(&path).and_then(|node| node.retains) {
                return retains;
            }
            next = path.split_last().map(|(above, _)| above);
        }
        self.retains.unwrap_or_default()
    }

    /// The nearest collection that limits the bytes kept for removals at `at`.
    fn limited_by(&self, at: &StorePath) -> Option<u64> {
        let limits =
            |(path, node): &(&StorePath, &Node)| node.limit.is_some() && at.starts_with(path);
        let nearest = self.nodes.iter().filter(limits).max_by_key(|(path, _)| path.names().len());
        let root = self.limit.map(|_| ResourceId::ROOT.0);
        nearest.map(|(_, node)| node.id).or(root)
    }

    /// The limits of all resources, including those in the trash.
    fn limits(&self) -> BTreeMap<u64, u64> {
        let kept = self.trash.values().flat_map(|trashed| &trashed.nodes).map(|(_, node)| node);
        let limits = self.nodes.values().chain(kept).map(|node| (node.id, node.limit));
        let all = limits.chain([(ResourceId::ROOT.0, self.limit)]);
        all.filter_map(|(id, limit)| Some((id, limit?))).collect()
    }

    /// Purges what is over a limit, the oldest removals first, and returns it.
    fn fit(&mut self, collection: u64, limit: u64) -> Vec<Trashed> {
        let under = self.trash.values().filter(|trashed| trashed.limited_by == Some(collection));
        let mut under: Vec<_> =
            under.map(|trashed| (trashed.order, trashed.id, trashed.bytes())).collect();
        under.sort_unstable();
        let mut excess = under.iter().map(|(.., bytes)| bytes).sum::<u64>().saturating_sub(limit);
        let mut gone = Vec::new();
        for (_, id, bytes) in under {
            if excess == 0 {
                break;
            }
            excess = excess.saturating_sub(bytes);
            gone.push(self.trash.remove(&id).unwrap());
        }
        gone
    }

    /// Removes a tree: into the trash, if it is kept.
    pub(super) fn remove(&mut self, what: &StorePath) {
        let keep = self.retains(what);
        let limited_by = self.limited_by(what);
        let (above, _) = what.split_last().unwrap();
        let parent = self.nodes.get(&above).map_or(ResourceId::ROOT.0, |node| node.id);
        let paths: Vec<_> = self.nodes.keys().filter(|p| p.starts_with(what)).cloned().collect();
        let nodes: Vec<_> = paths
            .into_iter()
            .map(|path| (path.clone(), self.nodes.remove(&path).unwrap()))
            .collect();
        if keep {
            let id = nodes[0].1.id;
            self.removals += 1;
            let (path, order) = (what.clone(), self.removals);
            self.trash.insert(id, Trashed { id, parent, path, nodes, order, limited_by });
        }
    }
}

impl Pair {
    pub(super) fn remove(&mut self, what: &StorePath, recursive: bool) {
        let options = RemoveOptions { recursive, versions: true, ..RemoveOptions::default() };
        let done = self.world.store.remove(&self.world.admin, &what.into(), &options);
        let expected = self.model.node(what).map(drop).and_then(|()| {
            match self.model.has_children(what) && !recursive {
                true => Err(ErrorKind::NotEmpty),
                false => Ok(()),
            }
        });
        assert_eq!(kind_of(done).map(drop), expected);
        if expected.is_ok() {
            self.model.remove(what);
        }
    }

    pub(super) fn retain(&mut self, below: Option<&StorePath>, retains: bool) {
        let what = below.cloned().unwrap_or_else(StorePath::root);
        let keep_removed = Some(Some(if retains { 3_600 } else { 0 }));
        let change = AttributeChange { keep_removed, ..AttributeChange::default() };
        let done = self.world.store.set_attributes(&self.world.admin, &(&what).into(), &change);
        match below {
            None => {
                done.unwrap();
                self.model.retains = Some(retains);
                self.model.described += 1;
            }
            Some(what) => {
                assert_eq!(kind_of(done).map(drop), self.model.node(what).map(drop));
                if self.model.nodes.contains_key(what) {
                    self.model.change_description(what, |node| node.retains = Some(retains));
                }
            }
        }
    }

    pub(super) fn limit(&mut self, below: Option<&StorePath>, limit: Option<u64>) {
        let what = below.cloned().unwrap_or_else(StorePath::root);
        let change =
            AttributeChange { keep_removed_bytes: Some(limit), ..AttributeChange::default() };
        let done = self.world.store.set_attributes(&self.world.admin, &(&what).into(), &change);
        match below {
            None => {
                done.unwrap();
                self.model.limit = limit;
                self.model.described += 1;
            }
            Some(what) => {
                assert_eq!(kind_of(done).map(drop), self.model.node(what).map(drop));
                if self.model.nodes.contains_key(what) {
                    self.model.change_description(what, |node| node.limit = limit);
                }
            }
        }
    }

    /// Limits apply once each removed tree is counted.
    pub(super) fn fit(&mut self) {
        self.world.store.run_jobs().unwrap();
        let purged = self.world.store.purge_over_limits().unwrap();
        let mut limits = self.model.limits();
        let with = self.model.trash.values().filter_map(|trashed| trashed.limited_by);
        let mut count = 0;
        for collection in with.collect::<BTreeSet<_>>() {
            let Some(limit) = limits.get(&collection) else { continue };
            let gone = self.model.fit(collection, *limit);
            count += gone.len() as u64;
            // A tree without children is erased immediately, with its limit; others are erased by the
            // sweep.
            for erased in gone.iter().filter(|gone| gone.nodes.len() == 1) {
                limits.remove(&erased.id);
            }
        }
        assert_eq!(purged, count);
        self.world.store.run_jobs().unwrap();
    }

    pub(super) fn empty_all(&mut self) {
        let purged = self.world.store.empty_trash(&self.world.admin).unwrap();
        assert_eq!(purged, self.model.trash.len() as u64);
        self.model.trash.clear();
    }

    pub(super) fn undo(&mut self, nth: usize, to: Option<&StorePath>, parents: bool) {
        let Some(trashed) = self.model.trash.values().nth(nth).cloned() else { return };
        let (_, name) = trashed.path.split_last().unwrap();
        let home = self.model.path_of(trashed.parent);
        let path = to.cloned().unwrap_or_else(|| {
            home.map_or(trashed.path.clone(), |home| home.join(name.clone()).unwrap())
        });
        let options = RestoreOptions { to: to.cloned(), parents };
        let (store, admin) = (&self.world.store, &self.world.admin);
        let done = store.restore_removed(admin, ResourceId(trashed.id), &options);
        let expected = match self.model.nodes.contains_key(&path) {
            true => Err(ErrorKind::Exists),
            false => self.model.missing_above(&path, parents),
        };
        assert_eq!(kind_of(done).map(drop), expected.clone().map(drop));
        if let Ok(missing) = expected {
            self.learn_collections(missing);
            self.model.trash.remove(&trashed.id);
            for (from, node) in trashed.nodes {
                self.model.nodes.insert(rebase(&from, &trashed.path, &path), node);
            }
            self.compare_all();
        }
    }

    pub(super) fn empty(&mut self, nth: usize) {
        let Some(id) = self.model.trash.keys().nth(nth).copied() else { return };
        self.world.store.empty_trash_of(&self.world.admin, ResourceId(id)).unwrap();
        self.model.trash.remove(&id);
    }

    pub(super) fn expire(&mut self) {
        self.world.clock.advance(Duration::from_secs(3_600));
        let purged = self.world.store.purge_trash().unwrap();
        assert_eq!(purged, self.model.trash.len() as u64);
        self.model.trash.clear();
    }

    /// Compares the trash, and checks that its resources are hidden.
    pub(super) fn compare_trash(&self) {
        let items = self.world.trash_of(&self.world.admin);
        let seen: Vec<_> = items.iter().map(|item| (item.id.0, item.path.clone())).collect();
        let trash = self.model.trash.values();
        let expected: Vec<_> = trash.map(|item| (item.id, item.path.to_string())).collect();
        assert_eq!(seen, expected);
        for item in items {
            let nodes = &self.model.trash[&item.id.0].nodes;
            let counted = item.resources.zip(item.bytes);
            let expected = (nodes.len() as u64, self.model.trash[&item.id.0].bytes());
            assert!(counted.is_none_or(|counted| counted == expected), "{item:?}");
            for (_, node) in nodes {
                let hidden = self.world.store.stat(&self.world.admin, &At::Id(ResourceId(node.id)));
                assert_eq!(kind_of(hidden).map(drop), Err(ErrorKind::NotFound));
            }
        }
    }
}

pub(super) fn rebase(path: &StorePath, from: &StorePath, to: &StorePath) -> StorePath {
    let below = &path.names()[from.names().len()..];
    below.iter().fold(to.clone(), |path, name| path.join(name.clone()).unwrap())
}
