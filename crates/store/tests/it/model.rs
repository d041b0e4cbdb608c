//! The whole heart against a simple model: random histories over a small tree of names, every
//! answer and the state after each step compared, and a check at the end. With many short contents; and with few of
//! up to some MiB, on a disk, whose sizes, ranges and parts cross the sizes at which the heart and the places change
//! their ways: 64 KiB, 512 KiB, 1 MiB and 8 MiB. `PROPTEST_CASES` asks for more histories.

mod sets;
mod stages;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use cenote_blob::Place;
use cenote_kv::{FjallEngine, FjallOptions, MemoryEngine, PostgresEngine};
use cenote_store::{
    At, AttributeChange, AvuChange, CheckOptions, Conditions, CopyOptions, CreateOptions, Draft,
    Error, ErrorKind, Kind, Limits, MoveOptions, PlaceId, PlaceState, Prune, PutOptions,
    RemoveOptions, ResourceId, RestoreOptions, Retention, Stat, Statement, StorePath,
    UploadOptions, Versioning, Where, attribute_of,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use sha2::{Digest, Sha256};

use self::stages::Edit;
use crate::clocks::Clocks;
use crate::postgres_server::fresh_schema;
use crate::raw::key;
use crate::uploads::{begin, complete, part};
use crate::world::{World, assert_clean, at, avu, cases, crc64nvme, noise, path, run, world_on};

/// Attributes and their values.
type Avus = BTreeSet<(String, String)>;

/// What is at a path, as far as a caller can tell.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Node {
    id: u64,
    kind: Kind,
    bytes: Vec<u8>,
    target: Option<String>,
    avus: Avus,
    versions: Vec<(Vec<u8>, Avus)>,
    keeps: bool,
    /// Whether the last version is the present state.
    is_kept: bool,
    /// How often the bytes were written.
    written: u64,
    /// How often the description was changed.
    described: u64,
    retains: Option<bool>,
}

/// A removed tree that can be restored: the paths of what is in it are below its own.
#[derive(Debug, Clone)]
struct Trashed {
    id: u64,
    parent: u64,
    path: StorePath,
    nodes: Vec<(StorePath, Node)>,
}

#[derive(Debug, Clone)]
enum Op {
    Create(StorePath, Kind, bool),
    Put(StorePath, usize, bool),
    Append(StorePath, usize),
    Patch(StorePath, usize, usize),
    Truncate(StorePath, usize),
    Move(StorePath, StorePath, bool),
    Copy(StorePath, StorePath, bool),
    CopyDescription(StorePath, StorePath),
    Remove(StorePath, bool),
    Describe(StorePath, AvuChange),
    Keep(StorePath, bool),
    Restore(StorePath, usize),
    KeepNow(StorePath),
    Prune(StorePath, usize),
    Retain(Option<StorePath>, bool),
    Undo(usize, Option<StorePath>, bool),
    Empty(usize),
    Expire,
    PutIn(StorePath, usize, usize),
    Replicate(StorePath, usize),
    Trim(StorePath, usize),
    Drain(usize, usize),
    Upload(StorePath, Parts),
    /// Begins a stage from what is there, or from nothing.
    Stage(StorePath, bool),
    /// Changes one of the stages.
    Edit(usize, Edit),
    /// Publishes one of the stages, by force or not.
    Publish(usize, bool),
    GiveUp(usize),
    Digest(StorePath),
    Sweep,
    Reopen,
}

/// Parts of an upload by offset and length, without a gap, in the order in which they come.
type Parts = Vec<(usize, usize)>;

/// How large contents are, and which names there are.
#[derive(Clone)]
struct Scale {
    paths: &'static str,
    sizes: BoxedStrategy<usize>,
    /// The bytes of a write in place: never none.
    runs: BoxedStrategy<usize>,
}

/// Contents above 64 bytes are blobs here: see [`crate::world::LIMITS`].
fn small() -> Scale {
    Scale { paths: "(/[abc]){1,3}", sizes: (0usize..150).boxed(), runs: (1usize..80).boxed() }
}

/// The sizes at which something changes, give or take two bytes, and any up to 3 MB.
fn real() -> Scale {
    let edges = select(vec![64 << 10, 512 << 10, 1 << 20, 2 << 20, 8 << 20]);
    let edges = (edges, 0usize..5).prop_map(|(edge, more): (usize, usize)| edge + more - 2);
    let sizes = prop_oneof![3 => edges, 3 => 0usize..3_000_000, 1 => 0usize..100].boxed();
    let runs = prop_oneof![1usize..100, 1usize..200_000, 1usize..1_500_000].boxed();
    Scale { paths: "/[abc]", sizes, runs }
}

/// Parts that follow each other or overlap, no two from the same offset on, in any order.
fn parts(scale: &Scale) -> impl Strategy<Value = Parts> + use<> {
    vec((scale.runs.clone(), 0usize..4), 1..5)
        .prop_map(|runs| {
            let (mut free, mut end) = (0, 0);
            let part = |(length, overlap): (usize, usize)| {
                // None, or a quarter or half of it.
                let overlap = (length * overlap / 4).saturating_sub(length / 4);
                let start = free.max(end.max(overlap) - overlap);
                (free, end) = (start + 1, end.max(start + length));
                (start, length)
            };
            runs.into_iter().map(part).collect::<Vec<_>>()
        })
        .prop_shuffle()
}

fn op(scale: &Scale) -> impl Strategy<Value = Op> + use<> {
    let names = scale.paths;
    let paths = move || names.prop_map(|text| path(&text));
    let sizes = || scale.sizes.clone();
    let runs = || scale.runs.clone();
    let kinds = prop_oneof![3 => Just(Kind::Collection), 1 => Just(Kind::Link), 1 => Just(Kind::Description)];
    // Two large values are more than one record has.
    let values = prop_oneof![3 => Just("v".to_owned()), 1 => Just("w".repeat(20_000))];
    let change = ("[kl]", values, 0..3).prop_map(|(k, v, which)| match which {
        0 => AvuChange::Add(avu(&k, &v)),
        1 => AvuChange::Remove(avu(&k, &v)),
        _ => AvuChange::Set(avu(&k, &v)),
    });
    prop_oneof![
        4 => (paths(), kinds, any::<bool>()).prop_map(|(p, k, b)| Op::Create(p, k, b)),
        5 => (paths(), sizes(), any::<bool>()).prop_map(|(p, n, b)| Op::Put(p, n, b)),
        2 => (paths(), runs()).prop_map(|(p, n)| Op::Append(p, n)),
        1 => paths().prop_map(|p| Op::Append(p, 0)),
        3 => (paths(), sizes(), runs()).prop_map(|(p, at, n)| Op::Patch(p, at, n)),
        2 => (paths(), sizes()).prop_map(|(p, n)| Op::Truncate(p, n)),
        2 => (paths(), parts(scale)).prop_map(|(p, parts)| Op::Upload(p, parts)),
        3 => (paths(), any::<bool>()).prop_map(|(p, b)| Op::Stage(p, b)),
        6 => (0usize..2, stages::edit(scale)).prop_map(|(n, edit)| Op::Edit(n, edit)),
        3 => (0usize..2, any::<bool>()).prop_map(|(n, b)| Op::Publish(n, b)),
        1 => (0usize..2).prop_map(Op::GiveUp),
        2 => paths().prop_map(Op::Digest),
        3 => (paths(), paths(), any::<bool>()).prop_map(|(p, q, b)| Op::Move(p, q, b)),
        3 => (paths(), paths(), any::<bool>()).prop_map(|(p, q, b)| Op::Copy(p, q, b)),
        2 => (paths(), paths()).prop_map(|(p, q)| Op::CopyDescription(p, q)),
        2 => (paths(), any::<bool>()).prop_map(|(p, b)| Op::Remove(p, b)),
        3 => (paths(), change).prop_map(|(p, c)| Op::Describe(p, c)),
        2 => (paths(), any::<bool>()).prop_map(|(p, b)| Op::Keep(p, b)),
        1 => (paths(), 0usize..3).prop_map(|(p, n)| Op::Restore(p, n)),
        2 => paths().prop_map(Op::KeepNow),
        2 => (paths(), 0usize..4).prop_map(|(p, n)| Op::Prune(p, n)),
        2 => (of(paths()), any::<bool>()).prop_map(|(p, b)| Op::Retain(p, b)),
        3 => (0usize..3, of(paths()), any::<bool>()).prop_map(|(n, p, b)| Op::Undo(n, p, b)),
        1 => (0usize..3).prop_map(Op::Empty),
        1 => Just(Op::Expire),
        2 => (paths(), 0usize..4, sizes()).prop_map(|(p, at, n)| Op::PutIn(p, at, n)),
        3 => (paths(), 0usize..4).prop_map(|(p, at)| Op::Replicate(p, at)),
        2 => (paths(), 0usize..3).prop_map(|(p, n)| Op::Trim(p, n)),
        1 => (1usize..3, 0usize..3).prop_map(|(from, to)| Op::Drain(from, to)),
        1 => Just(Op::Sweep),
        1 => Just(Op::Reopen),
    ]
}

#[derive(Debug, Default, Clone)]
struct Model {
    nodes: BTreeMap<StorePath, Node>,
    /// By id.
    trash: BTreeMap<u64, Trashed>,
    /// What the root says, and how often that was changed.
    retains: Option<bool>,
    described: u64,
    /// Whether the root has versions of each change kept.
    keeps: bool,
}

type Answer = Result<(), ErrorKind>;

impl Model {
    fn node(&self, at: &StorePath) -> Result<&Node, ErrorKind> {
        self.nodes.get(at).ok_or(ErrorKind::NotFound)
    }

    fn object(&self, at: &StorePath) -> Result<&Node, ErrorKind> {
        let node = self.node(at)?;
        if node.kind == Kind::Object { Ok(node) } else { Err(ErrorKind::WrongKind) }
    }

    fn has_children(&self, at: &StorePath) -> bool {
        self.nodes.keys().any(|path| path != at && path.starts_with(at))
    }

    /// Whether changes of what is at `at` keep versions.
    fn keeps(&self, at: &StorePath) -> bool {
        let mut next = Some(at.clone());
        while let Some(path) = next {
            if self.nodes.get(&path).is_some_and(|node| node.keeps) {
                return true;
            }
            next = path.split_last().map(|(above, _)| above);
        }
        self.keeps
    }

    /// Whether what is removed at `at` is kept for a while.
    fn retains(&self, at: &StorePath) -> bool {
        let mut next = Some(at.clone());
        while let Some(path) = next {
            if let Some(retains) = self.nodes.get(&path).and_then(|node| node.retains) {
                return retains;
            }
            next = path.split_last().map(|(above, _)| above);
        }
        self.retains.unwrap_or_default()
    }

    fn path_of(&self, id: u64) -> Option<StorePath> {
        if id == ResourceId::ROOT.0 {
            return Some(StorePath::root());
        }
        self.nodes.iter().find(|(_, node)| node.id == id).map(|(path, _)| path.clone())
    }

    /// Takes a tree away: to the trash, if it is kept.
    fn remove(&mut self, what: &StorePath) {
        let keep = self.retains(what);
        let (above, _) = what.split_last().unwrap();
        let parent = self.nodes.get(&above).map_or(ResourceId::ROOT.0, |node| node.id);
        let paths: Vec<_> = self.nodes.keys().filter(|p| p.starts_with(what)).cloned().collect();
        let nodes: Vec<_> = paths
            .into_iter()
            .map(|path| (path.clone(), self.nodes.remove(&path).unwrap()))
            .collect();
        if keep {
            let id = nodes[0].1.id;
            self.trash.insert(id, Trashed { id, parent, path: what.clone(), nodes });
        }
    }

    /// What is missing above `at`, the highest first, if creating there is allowed.
    fn missing_above(&self, at: &StorePath, parents: bool) -> Result<Vec<StorePath>, ErrorKind> {
        let mut missing = Vec::new();
        let mut next = at.split_last().map(|(above, _)| above);
        while let Some(path) = next.filter(|path| !path.names().is_empty()) {
            match self.nodes.get(&path) {
                Some(node) if node.kind == Kind::Collection => break,
                Some(_) => {
                    return Err(if missing.is_empty() || parents {
                        ErrorKind::WrongKind
                    } else {
                        ErrorKind::NotFound
                    });
                }
                None if !parents => return Err(ErrorKind::NotFound),
                None => missing.insert(0, path.clone()),
            }
            next = path.split_last().map(|(above, _)| above);
        }
        Ok(missing)
    }

    fn change_bytes(&mut self, at: &StorePath, bytes: Vec<u8>) {
        self.keep_replaced(at);
        let node = self.nodes.get_mut(at).unwrap();
        node.bytes = bytes;
        node.written += 1;
    }

    fn change_description(&mut self, at: &StorePath, change: impl FnOnce(&mut Node)) {
        self.keep_replaced(at);
        let node = self.nodes.get_mut(at).unwrap();
        change(node);
        node.described += 1;
    }

    /// Keeps what is about to change, if that is wanted and was not done yet.
    fn keep_replaced(&mut self, at: &StorePath) {
        let keeps = self.keeps(at);
        let node = self.nodes.get_mut(at).unwrap();
        if keeps && !node.is_kept {
            node.versions.push((node.bytes.clone(), node.avus.clone()));
        }
        node.is_kept = false;
    }

    /// What the clocks of each resource stand for, by its id: how often its content and its description changed, and the
    /// names and ids of its children.
    fn clocks(&self) -> BTreeMap<u64, (u64, u64, Members)> {
        let mut clocks: BTreeMap<_, _> = (self.nodes.values())
            .map(|node| (node.id, (node.written, node.described, Members::new())))
            .collect();
        clocks.insert(ResourceId::ROOT.0, (0, self.described, Members::new()));
        for (path, node) in &self.nodes {
            let (above, name) = path.split_last().unwrap();
            let above = self.nodes.get(&above).map_or(ResourceId::ROOT.0, |above| above.id);
            let members = &mut clocks.get_mut(&above).unwrap().2;
            members.insert((name.to_string(), node.id));
        }
        clocks
    }
}

/// The names of the children of a collection, and their ids.
type Members = BTreeSet<(String, u64)>;

fn kind_of<T>(answer: cenote_store::Result<T>) -> Result<T, ErrorKind> {
    answer.map_err(|error| error.kind())
}

/// The store and the model side by side.
struct Pair {
    world: World,
    model: Model,
    /// What each replica gave when it was last looked at: id of the object, number, bytes.
    replicas: BTreeMap<(u64, u32), Vec<u8>>,
    /// Those that are under way.
    stages: Vec<stages::Stage>,
}

/// Three places and a group of two of them.
const PLACES: [&str; 4] = ["main", "a", "b", "pair"];

impl Pair {
    fn of(world: World) -> Self {
        let (replicas, stages) = (BTreeMap::new(), Vec::new());
        Self { world, model: Model::default(), replicas, stages }
    }

    /// Takes what the store says of a new resource into the model.
    fn learn(&mut self, path: &StorePath, kind: Kind, bytes: Vec<u8>, target: Option<String>) {
        let stat = self.world.store.stat(&self.world.admin, &path.into()).unwrap();
        let node = Node {
            id: stat.id.0,
            kind,
            bytes,
            target,
            avus: BTreeSet::new(),
            versions: Vec::new(),
            keeps: false,
            is_kept: false,
            written: 0,
            described: 0,
            retains: None,
        };
        assert!(self.model.nodes.insert(path.clone(), node).is_none());
    }

    fn learn_collections(&mut self, missing: Vec<StorePath>) {
        missing.iter().for_each(|path| self.learn(path, Kind::Collection, Vec::new(), None));
    }

    fn create(&mut self, to: &StorePath, kind: Kind, parents: bool) {
        let draft = match kind {
            Kind::Link => Draft::Link("target".into()),
            Kind::Description => Draft::Description,
            _ => Draft::Collection,
        };
        let options = CreateOptions { parents, ..CreateOptions::default() };
        let done = self.world.store.create(&self.world.admin, to, draft, options);
        let expected = match self.model.nodes.contains_key(to) {
            true => Err(ErrorKind::Exists),
            false => self.model.missing_above(to, parents),
        };
        assert_eq!(kind_of(done).map(drop), expected.clone().map(drop));
        if let Ok(missing) = expected {
            self.learn_collections(missing);
            let target = (kind == Kind::Link).then(|| "target".to_owned());
            self.learn(to, kind, Vec::new(), target);
        }
    }

    fn put(&mut self, to: &StorePath, bytes: Vec<u8>, parents: bool, place: Option<PlaceId>) {
        let options = PutOptions { parents, place, ..PutOptions::default() };
        let done = self.world.try_put(&self.world.admin, &to.to_string(), &bytes, options);
        let expected = match self.model.nodes.get(to) {
            Some(node) if node.kind == Kind::Object => Ok(None),
            Some(_) => Err(ErrorKind::WrongKind),
            None => self.model.missing_above(to, parents).map(Some),
        };
        assert_eq!(kind_of(done).map(drop), expected.clone().map(drop));
        match expected {
            Ok(Some(missing)) => {
                self.learn_collections(missing);
                self.learn(to, Kind::Object, bytes, None);
            }
            Ok(None) => self.model.change_bytes(to, bytes),
            Err(_) => {}
        }
    }

    fn edit(
        &mut self,
        to: &StorePath,
        done: Answer,
        edit: impl FnOnce(&mut Vec<u8>),
        changes: bool,
    ) {
        let expected = self.model.object(to).map(|node| node.bytes.clone());
        assert_eq!(done, expected.clone().map(drop));
        if let (Ok(mut bytes), true) = (expected, changes) {
            edit(&mut bytes);
            self.model.change_bytes(to, bytes);
        }
    }

    fn relocate(&mut self, from: &StorePath, to: &StorePath, replace: bool) {
        let options = MoveOptions { replace, versions: true, ..MoveOptions::default() };
        let done = self.world.store.relocate(&self.world.admin, &from.into(), to, options);
        let expected = self.may_move(from, to, replace);
        assert_eq!(kind_of(done).map(drop), expected);
        if expected.is_ok() && from != to {
            if self.model.nodes.contains_key(to) {
                self.model.remove(to);
            }
            let moved: Vec<_> =
                self.model.nodes.keys().filter(|path| path.starts_with(from)).cloned().collect();
            for path in moved {
                let node = self.model.nodes.remove(&path).unwrap();
                self.model.nodes.insert(rebase(&path, from, to), node);
            }
        }
    }

    fn may_move(&self, from: &StorePath, to: &StorePath, replace: bool) -> Answer {
        let moved = self.model.node(from)?;
        if from == to {
            return Ok(());
        }
        self.model.missing_above(to, false)?;
        if to.starts_with(from) {
            return Err(ErrorKind::Invalid);
        }
        let Some(target) = self.model.nodes.get(to) else { return Ok(()) };
        let collections = [moved, target].map(|node| node.kind == Kind::Collection);
        match collections {
            _ if !replace => Err(ErrorKind::Exists),
            [a, b] if a != b => Err(ErrorKind::WrongKind),
            _ if self.model.has_children(to) => Err(ErrorKind::NotEmpty),
            _ => Ok(()),
        }
    }

    fn copy(&mut self, from: &StorePath, to: &StorePath, replace: bool) {
        let options = CopyOptions { replace, ..CopyOptions::default() };
        let done = self.world.store.copy(&self.world.admin, &from.into(), to, options);
        let expected = self.may_copy(from, to, replace);
        assert_eq!(kind_of(done).map(drop), expected);
        if expected.is_err() {
            return;
        }
        let source = self.model.nodes[from].clone();
        if !self.model.nodes.contains_key(to) {
            self.learn(to, source.kind, source.bytes, source.target);
        } else {
            self.model.change_bytes(to, source.bytes);
        }
        let copy = self.model.nodes.get_mut(to).unwrap();
        copy.avus = source.avus;
        copy.described += 1;
    }

    fn may_copy(&self, from: &StorePath, to: &StorePath, replace: bool) -> Answer {
        let source = self.model.node(from)?;
        if source.kind == Kind::Collection {
            return Err(ErrorKind::WrongKind);
        }
        match self.model.nodes.get(to) {
            Some(target) if from == to || target.kind != source.kind || !replace => {
                Err(ErrorKind::Exists)
            }
            Some(_) => Ok(()),
            None => self.model.missing_above(to, false).map(drop),
        }
    }

    fn remove(&mut self, what: &StorePath, recursive: bool) {
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

    fn retain(&mut self, below: Option<&StorePath>, retains: bool) {
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

    fn undo(&mut self, nth: usize, to: Option<&StorePath>, parents: bool) {
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

    fn empty(&mut self, nth: usize) {
        let Some(id) = self.model.trash.keys().nth(nth).copied() else { return };
        self.world.store.empty_trash_of(&self.world.admin, ResourceId(id)).unwrap();
        self.model.trash.remove(&id);
    }

    fn expire(&mut self) {
        self.world.clock.advance(Duration::from_secs(3_600));
        let purged = self.world.store.purge_trash().unwrap();
        assert_eq!(purged, self.model.trash.len() as u64);
        self.model.trash.clear();
    }

    /// Compares what is in the trash, and looks whether it is hidden.
    fn compare_trash(&self) {
        let items = self.world.trash_of(&self.world.admin);
        let seen: Vec<_> = items.iter().map(|item| (item.id.0, item.path.clone())).collect();
        let trash = self.model.trash.values();
        let expected: Vec<_> = trash.map(|item| (item.id, item.path.to_string())).collect();
        assert_eq!(seen, expected);
        for item in items {
            let nodes = &self.model.trash[&item.id.0].nodes;
            let bytes: usize = nodes.iter().map(|(_, node)| node.bytes.len()).sum();
            let counted = item.resources.zip(item.bytes);
            let expected = (nodes.len() as u64, bytes as u64);
            assert!(counted.is_none_or(|counted| counted == expected), "{item:?}");
            for (_, node) in nodes {
                let hidden = self.world.store.stat(&self.world.admin, &At::Id(ResourceId(node.id)));
                assert_eq!(kind_of(hidden).map(drop), Err(ErrorKind::NotFound));
            }
        }
    }

    fn describe(&mut self, what: &StorePath, change: &AvuChange) {
        let conditions = Conditions::default();
        let changes = std::slice::from_ref(change);
        let done =
            self.world.store.change_avus(&self.world.admin, &what.into(), changes, &conditions);
        let expected = self.model.node(what).map(drop);
        assert_eq!(kind_of(done).map(drop), expected);
        let Some(node) = self.model.nodes.get(what) else { return };
        let mut avus = node.avus.clone();
        match change.clone() {
            AvuChange::Add(avu) => drop(avus.insert((avu.attribute, avu.value))),
            AvuChange::Remove(avu) => drop(avus.remove(&(avu.attribute, avu.value))),
            AvuChange::Set(avu) => {
                avus.retain(|(attribute, _)| *attribute != avu.attribute);
                avus.insert((avu.attribute, avu.value));
            }
            AvuChange::Clear(_) | AvuChange::Link(..) => {}
        }
        self.set_avus(what, avus);
    }

    fn copy_description(&mut self, from: &StorePath, to: &StorePath) {
        let (store, admin, any) = (&self.world.store, &self.world.admin, Conditions::default());
        let done = store.copy_description(admin, &from.into(), &to.into(), &any);
        let source = self.model.node(from).map(|node| node.avus.clone());
        let expected = source.clone().and_then(|_| self.model.node(to).map(drop));
        assert_eq!(kind_of(done).map(drop), expected);
        if let (Ok(avus), true) = (source, self.model.nodes.contains_key(to)) {
            self.set_avus(to, avus);
        }
    }

    fn set_avus(&mut self, what: &StorePath, avus: Avus) {
        if self.model.nodes[what].avus != avus {
            self.model.change_description(what, |node| node.avus = avus);
        }
    }

    /// Turns versions of each change on for a resource and what is below it, or leaves that to above.
    fn keep(&mut self, what: &StorePath, keeps: bool) {
        let versioning = Some(keeps.then_some(Versioning::EachChange(Retention::default())));
        let change = AttributeChange { versioning, ..AttributeChange::default() };
        let done = self.world.store.set_attributes(&self.world.admin, &what.into(), &change);
        assert_eq!(kind_of(done).map(drop), self.model.node(what).map(drop));
        if self.model.nodes.contains_key(what) {
            self.model.change_description(what, |node| node.keeps = keeps);
        }
    }

    /// Turns versions of each change on for the whole store.
    fn keep_all(&mut self) {
        let versioning = Some(Some(Versioning::EachChange(Retention::default())));
        let change = AttributeChange { versioning, ..AttributeChange::default() };
        self.world.store.set_attributes(&self.world.admin, &at("/"), &change).unwrap();
        self.model.keeps = true;
    }

    fn keep_now(&mut self, what: &StorePath) {
        let done = self.world.try_keep(&what.to_string(), None);
        let expected = self.model.node(what).and_then(|_| match self.model.keeps(what) {
            true => Ok(()),
            false => Err(ErrorKind::Invalid),
        });
        assert_eq!(kind_of(done).map(drop), expected);
        if expected.is_ok() {
            self.model.keep_replaced(what);
            self.model.nodes.get_mut(what).unwrap().is_kept = true;
        }
    }

    /// Removes a version, if there are that many; the others stay what they are.
    fn prune(&mut self, what: &StorePath, nth: usize) {
        let Some(node) = self.model.nodes.get_mut(what) else { return };
        if nth >= node.versions.len() {
            return;
        }
        let versions = self.world.store.versions(&self.world.admin, &what.into()).unwrap();
        let number = versions[versions.len() - 1 - nth].version;
        let prune = Prune::One(number);
        let gone = self.world.store.prune_versions(&self.world.admin, &what.into(), &prune);
        assert_eq!(gone.unwrap(), 1);
        node.versions.remove(nth);
        node.is_kept &= nth < node.versions.len();
        self.compare_versions(what);
    }

    fn restore(&mut self, what: &StorePath, nth: usize) {
        let Some(node) = self.model.nodes.get(what).cloned() else { return };
        let Some((bytes, avus)) = node.versions.get(nth).cloned() else { return };
        let at = At::from(what);
        let versions = self.world.store.versions(&self.world.admin, &at).unwrap();
        let number = versions[versions.len() - 1 - nth].version;
        self.world.store.restore_version(&self.world.admin, &at, number).unwrap();
        self.model.change_bytes(what, bytes);
        let node = self.model.nodes.get_mut(what).unwrap();
        node.avus = avus;
        node.described += 1;
    }

    fn apply(&mut self, op: &Op, seed: u64) {
        match op {
            Op::Create(to, kind, parents) => self.create(to, *kind, *parents),
            Op::Put(to, size, parents) => self.put(to, noise(*size, seed), *parents, None),
            Op::PutIn(to, place, size) => {
                let place = self.world.place(PLACES[*place]);
                self.put(to, noise(*size, seed), false, Some(place));
            }
            Op::Replicate(what, place) => {
                let done = self.world.replicate(&what.to_string(), PLACES[*place]);
                assert_eq!(kind_of(done).map(drop), self.model.object(what).map(drop));
            }
            Op::Trim(what, number) => self.trim(what, *number),
            Op::Drain(from, to) => self.drain(PLACES[*from], PLACES[*to]),
            Op::Append(to, size) => {
                let run = noise(*size, seed);
                let done = kind_of(self.world.write_at(&to.to_string(), Where::Append, &run));
                self.edit(to, done.map(drop), |bytes| bytes.extend_from_slice(&run), *size > 0);
            }
            Op::Patch(to, at, size) => {
                let run = noise(*size, seed);
                let place = Where::Offset(*at as u64);
                let done = kind_of(self.world.write_at(&to.to_string(), place, &run));
                let edit = |bytes: &mut Vec<u8>| {
                    bytes.resize(bytes.len().max(at + size), 0);
                    bytes[*at..at + size].copy_from_slice(&run);
                };
                self.edit(to, done.map(drop), edit, true);
            }
            Op::Truncate(to, size) => {
                let done = kind_of(self.world.truncate(&to.to_string(), *size as u64));
                self.edit(to, done.map(drop), |bytes| bytes.resize(*size, 0), true);
            }
            Op::Move(from, to, replace) => self.relocate(from, to, *replace),
            Op::Copy(from, to, replace) => self.copy(from, to, *replace),
            Op::CopyDescription(from, to) => self.copy_description(from, to),
            Op::Remove(what, recursive) => self.remove(what, *recursive),
            Op::Describe(what, change) => self.describe(what, change),
            Op::Keep(what, keeps) => self.keep(what, *keeps),
            Op::Restore(what, nth) => self.restore(what, *nth),
            Op::KeepNow(what) => self.keep_now(what),
            Op::Prune(what, nth) => self.prune(what, *nth),
            Op::Retain(below, retains) => self.retain(below.as_ref(), *retains),
            Op::Undo(nth, to, parents) => self.undo(*nth, to.as_ref(), *parents),
            Op::Empty(nth) => self.empty(*nth),
            Op::Expire => self.expire(),
            Op::Upload(to, parts) => self.upload(to, parts, seed),
            Op::Stage(of, from_object) => self.stage(of, *from_object),
            Op::Edit(nth, edit) => self.edit_stage(*nth, edit, seed),
            Op::Publish(nth, force) => self.publish(*nth, *force),
            Op::GiveUp(nth) => self.give_up(*nth),
            Op::Digest(what) => self.digest(what),
            Op::Sweep => self.world.sweep(),
            Op::Reopen => self.world = self.world.reopened(),
        }
    }

    fn upload(&mut self, to: &StorePath, parts: &Parts, seed: u64) {
        let run = |n: usize| noise(parts[n].1, seed * 100 + n as u64);
        let begun = begin(&self.world, &to.to_string(), UploadOptions::default());
        let expected = match self.model.nodes.get(to) {
            Some(node) if node.kind != Kind::Object => Err(ErrorKind::WrongKind),
            Some(_) => Ok(()),
            None => self.model.missing_above(to, false).map(drop),
        };
        assert_eq!(begun.as_ref().map(drop).map_err(Error::kind), expected);
        let Ok(upload) = begun else { return };
        for (n, (offset, _)) in parts.iter().enumerate() {
            part(&self.world, upload.id, *offset, &run(n)).unwrap();
        }
        complete(&self.world, upload.id, None).unwrap();
        let mut order: Vec<usize> = (0..parts.len()).collect();
        // Where parts overlap, the one that begins later counts.
        order.sort_by_key(|n| parts[*n].0);
        let mut bytes = Vec::new();
        for n in order {
            let (offset, length) = parts[n];
            bytes.resize(bytes.len().max(offset + length), 0);
            bytes[offset..offset + length].copy_from_slice(&run(n));
        }
        match self.model.nodes.contains_key(to) {
            true => self.model.change_bytes(to, bytes),
            false => self.learn(to, Kind::Object, bytes, None),
        }
    }

    fn digest(&self, what: &StorePath) {
        let Some(node) = self.model.nodes.get(what).filter(|node| node.kind == Kind::Object) else {
            return;
        };
        run(self.world.store.compute_digest(ResourceId(node.id))).unwrap();
        assert!(self.compare_content(what, 1), "{what} has no digest");
    }

    /// Compares an object's bytes, whole and in ranges, and its digests; says whether its SHA-256 is known.
    fn compare_content(&self, what: &StorePath, seed: u64) -> bool {
        let Some(node) = self.model.nodes.get(what).filter(|node| node.kind == Kind::Object) else {
            return false;
        };
        let (world, bytes) = (&self.world, &node.bytes);
        for range in ranges(bytes.len(), seed) {
            let read = world.read_range(&what.to_string(), range.start as u64..range.end as u64);
            assert!(read == bytes[range.clone()], "{what}, {range:?} of {}", bytes.len());
        }
        let head = world.stat(&what.to_string()).unwrap().resource.content.unwrap();
        let known = head.digests;
        known.crc64nvme.inspect(|crc| assert_eq!(*crc, crc64nvme(bytes), "{what}"));
        known.sha256.inspect(|sha256| assert_eq!(sha256[..], Sha256::digest(bytes)[..], "{what}"));
        known.sha256.is_some()
    }

    fn trim(&self, what: &StorePath, nth: usize) {
        if self.model.object(what).is_err() {
            return;
        }
        let replicas = || self.world.store.replicas(&self.world.admin, &what.into()).unwrap();
        let before = replicas();
        let Some(replica) = before.get(nth) else { return };
        let last = replica.good && before.iter().filter(|replica| replica.good).count() == 1;
        let trimmed = kind_of(self.world.trim(&what.to_string(), replica.number));
        match last || before.len() == 1 {
            true => assert_eq!(trimmed, Err(ErrorKind::Precondition)),
            false => assert_eq!(trimmed, Ok(vec![replica.number])),
        }
        let gone = usize::from(trimmed.is_ok());
        assert_eq!(replicas().len() + gone, before.len());
    }

    fn drain(&self, from: &str, to: &str) {
        if from == to {
            return;
        }
        let ids = (self.world.place(from), self.world.place(to));
        let job = self.world.store.drain_place(&self.world.admin, ids.0, Some(ids.1)).unwrap();
        run(self.world.store.run_moves()).unwrap();
        let job = self.world.store.job(&self.world.admin, job.id).unwrap();
        assert!(job.finished && job.failed == 0, "{job:?}");
        assert_eq!(self.world.blobs_in(from), 0);
        self.world.set_state(from, PlaceState::Up);
    }

    /// A good replica gives the current content, a stale one what it gave before.
    fn compare_replicas(&mut self) {
        let mut seen = BTreeMap::new();
        for (path, node) in self.model.nodes.iter().filter(|(_, node)| node.kind == Kind::Object) {
            let replicas = self.world.store.replicas(&self.world.admin, &path.into()).unwrap();
            assert!(replicas.iter().any(|replica| replica.good), "{path}");
            let places: BTreeSet<_> = replicas.iter().map(|replica| replica.place).collect();
            assert_eq!(places.len(), replicas.len(), "{path}");
            for replica in replicas {
                let bytes = self.world.read_replica(&path.to_string(), replica.number).unwrap();
                let key = (node.id, replica.number);
                let expected = match replica.good {
                    true => &node.bytes,
                    false => &self.replicas[&key],
                };
                assert!(bytes == *expected, "{path} {replica:?}");
                assert!(seen.insert(key, bytes).is_none());
            }
        }
        // Those in the trash come back.
        self.replicas.extend(seen);
    }

    /// Compares the tree: paths, ids, kinds and sizes after each step.
    fn compare_tree(&self) {
        let walk = self.world.store.walk(&self.world.admin, &at("/"), None, 10_000).unwrap();
        let seen: BTreeMap<_, _> =
            walk.entries.into_iter().map(|stat| (stat.path.clone(), stat)).collect();
        let summary = |stat: &Stat| (stat.id.0, stat.resource.kind, stat.size());
        let expected: Vec<_> = self
            .model
            .nodes
            .iter()
            .map(|(path, node)| (path.clone(), (node.id, node.kind, node.bytes.len() as u64)))
            .collect();
        let seen: Vec<_> = seen.iter().map(|(path, stat)| (path.clone(), summary(stat))).collect();
        assert_eq!(seen, expected);
        assert!(self.world.stat("/").is_ok());
    }

    /// The clocks of each resource, by its id.
    fn clocks(&self) -> BTreeMap<u64, Clocks> {
        let stat = |id: &u64| self.world.store.stat(&self.world.admin, &At::Id(ResourceId(*id)));
        let ids = self.model.clocks().into_keys();
        ids.map(|id| (id, Clocks::of(&self.world, &stat(&id).unwrap()))).collect()
    }

    /// Applies a change and compares which clocks moved: those of what it changed, and no other. The tag of a content can
    /// come back with its bytes.
    fn apply_and_compare_clocks(&mut self, op: &Op, seed: u64) {
        let (model, before) = (self.model.clocks(), self.clocks());
        self.world.clock.advance(Duration::from_nanos(1));
        self.apply(op, seed);
        let (changed, after) = (self.model.clocks(), self.clocks());
        for (id, (old, new)) in
            model.iter().filter_map(|(id, was)| Some((id, (was, changed.get(id)?))))
        {
            let (one, two) = (&before[id], &after[id]);
            let times = |clocks: &Clocks| {
                let time = |clock: &Option<_>| clock.as_ref().map(|(time, _)| *time);
                (time(&clocks.content), clocks.description.0, time(&clocks.membership))
            };
            let moved = (old.0 != new.0, old.1 != new.1, old.2 != new.2);
            let (was, is) = (times(one), times(two));
            let shown = (was.0 != is.0, was.1 != is.1, was.2 != is.2);
            let is_object = one.content.is_some();
            assert_eq!(
                (shown.0, shown.1, shown.2),
                (moved.0 && is_object, moved.1, moved.2),
                "{id}"
            );
            assert_eq!(one.description.1 != two.description.1, moved.1, "{id}");
            let tag = |clocks: &Clocks| clocks.membership.as_ref().map(|(_, tag)| tag.clone());
            assert_eq!(tag(one) != tag(two), moved.2, "{id}");
            let tag = |clocks: &Clocks| clocks.content.as_ref().map(|(_, tag)| tag.clone());
            assert!(moved.0 || tag(one) == tag(two), "{id}");
        }
    }

    /// Compares bytes, descriptions, targets and versions.
    fn compare_all(&self) {
        self.compare_tree();
        let (store, admin) = (&self.world.store, &self.world.admin);
        for (path, node) in &self.model.nodes {
            let at = At::Id(cenote_store::ResourceId(node.id));
            let stat = store.stat(admin, &at).unwrap();
            assert_eq!((&stat.path, &stat.resource.target), (path, &node.target));
            let avus = store.avus(admin, &at).unwrap();
            let avus: BTreeSet<_> =
                avus.into_iter().map(|avu| (avu.attribute, avu.value)).collect();
            assert_eq!(avus, node.avus, "{path}");
            if node.kind == Kind::Object {
                assert!(self.world.read(&path.to_string()) == node.bytes, "{path}");
            }
            self.compare_versions(path);
        }
    }

    /// Compares what each version has.
    fn compare_versions(&self, path: &StorePath) {
        let (store, admin, node) = (&self.world.store, &self.world.admin, &self.model.nodes[path]);
        let versions = store.versions(admin, &path.into()).unwrap();
        assert_eq!(versions.len(), node.versions.len(), "{path}");
        for (version, (bytes, avus)) in versions.iter().rev().zip(&node.versions) {
            let number = version.version;
            if version.content.is_some() {
                assert!(self.world.read_version(&path.to_string(), number) == *bytes);
            }
            let graph = store.graph_of_version(admin, &path.into(), number).unwrap();
            let shown: Avus = graph.iter().map(shown_avu).collect();
            assert_eq!(shown, *avus, "{path}, version {number}");
            let difference = store.compare_versions(admin, &path.into(), number, None).unwrap();
            let lost: Avus = difference.removed.iter().map(shown_avu).collect();
            let come: Avus = difference.added.iter().map(shown_avu).collect();
            assert_eq!(lost, avus.difference(&node.avus).cloned().collect());
            assert_eq!(come, node.avus.difference(avus).cloned().collect());
        }
    }
}

fn shown_avu(statement: &Statement) -> (String, String) {
    (attribute_of(&statement.predicate), statement.object.text().to_owned())
}

/// All, and some ranges with ends anywhere and at the edges of the chunks in which files are read.
fn ranges(size: usize, seed: u64) -> Vec<Range<usize>> {
    let dice: Vec<usize> = noise(6 * 8, seed)
        .chunks(8)
        .map(|word| word.iter().fold(0, |n, byte| n * 251 + *byte as usize))
        .collect();
    let edges = [1 << 19, 1 << 20, 3 << 19].map(|edge: usize| edge.min(size));
    let ends: Vec<usize> = dice.iter().map(|n| n % (size + 1)).chain(edges).collect();
    let pairs = ends.windows(2).map(|ends| ends[0].min(ends[1])..ends[0].max(ends[1]));
    std::iter::once(0..size).chain(pairs).collect()
}

impl Op {
    /// The object whose bytes it changes.
    fn target(&self) -> Option<&StorePath> {
        match self {
            Self::Put(to, ..)
            | Self::PutIn(to, ..)
            | Self::Append(to, _)
            | Self::Patch(to, ..)
            | Self::Truncate(to, _)
            | Self::Upload(to, _)
            | Self::Restore(to, _)
            | Self::Copy(_, to, _)
            | Self::Replicate(to, _) => Some(to),
            _ => None,
        }
    }
}

fn rebase(path: &StorePath, from: &StorePath, to: &StorePath) -> StorePath {
    let below = &path.names()[from.names().len()..];
    below.iter().fold(to.clone(), |path, name| path.join(name.clone()).unwrap())
}

fn play(world: World, ops: &[Op]) {
    let world = world.with_places(Default::default());
    world.add_group("pair", &["a", "b"]);
    let mut pair = Pair::of(world);
    if ops.len().is_multiple_of(2) {
        pair.keep_all();
    }
    for (n, op) in ops.iter().enumerate() {
        pair.apply_and_compare_clocks(op, n as u64 + 1);
        pair.compare_tree();
        if let Some(target) = op.target() {
            pair.compare_content(target, n as u64);
        }
        pair.compare_replicas();
        pair.compare_trash();
        pair.compare_stages();
    }
    pair.compare_all();
    let all: Vec<_> = pair.model.nodes.keys().cloned().collect();
    all.iter().for_each(|path| pair.digest(path));
    assert_clean(&pair.world.store);
    pair.world.sweep();
    pair.compare_all();
    pair.compare_stages();
    assert_clean(&pair.world.store);
    pair.give_all_up();
    everything_goes(&pair.world);
}

/// After all is removed and swept, nothing of it stays but the feed.
fn everything_goes(world: &World) {
    for name in world.names("/") {
        world.rm_all(&format!("/{name}")).unwrap();
    }
    world.store.empty_trash(&world.admin).unwrap();
    let all = Prune::All(Retention::last(0));
    world.store.prune_versions(&world.admin, &at("/"), &all).unwrap();
    assert_eq!(world.store.stats(&world.admin).unwrap().removed.unwrap(), Default::default());
    world.sweep();
    for table in *b"CKkRBbGIVvXxdJgcPp" {
        assert!(world.table(table).is_empty(), "{} stays", table as char);
    }
    for table in *b"hH" {
        let of_root = key(table, &[ResourceId::ROOT.0]);
        assert!(world.table(table).iter().all(|key| *key == of_root), "{} stays", table as char);
    }
    for place in &PLACES[..3] {
        assert_eq!(world.blobs_in(place), 0, "{place}");
    }
    let repair = CheckOptions { repair: true, contents: 100 };
    assert!(crate::world::findings(&world.store, repair).is_empty());
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn the_heart_is_its_model(ops in vec(op(&small()), 1..50)) {
        play(world_on(MemoryEngine::new(), Place::memory("main")), &ops);
    }
}

proptest! {
    #![proptest_config(cases(4))]

    #[test]
    fn the_heart_is_its_model_on_disk(ops in vec(op(&small()), 1..25)) {
        let dir = tempfile::tempdir().unwrap();
        let options = FjallOptions { reserve: 0, ..FjallOptions::default() };
        let engine = FjallEngine::open(dir.path().join("catalog"), options).unwrap();
        let place = Place::local("main", dir.path().join("contents")).unwrap();
        play(world_on(engine, place), &ops);
    }

    #[test]
    fn the_heart_is_its_model_on_postgres(ops in vec(op(&small()), 1..12)) {
        let Some(config) = fresh_schema() else { return Ok(()) };
        play(world_on(PostgresEngine::open(&config).unwrap(), Place::memory("main")), &ops);
    }

    #[test]
    fn the_heart_is_its_model_at_real_sizes(ops in vec(op(&real()), 1..20)) {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::local("main", dir.path()).unwrap();
        play(world_on(MemoryEngine::new(), place).with_limits(Limits::default()), &ops);
    }
}
