//! The whole store against a simple model: random histories over a small tree of names, comparing every result and the
//! state after each step, with a check at the end. With many short contents; and with a few of up to some MiB, on a
//! disk, whose sizes, ranges and parts cross the sizes at which the store and the places behave differently: 64 KiB,
//! 512 KiB, 1 MiB and 8 MiB. `PROPTEST_CASES` sets the number of histories.

mod contents;
mod op;
mod sets;
mod stages;
mod trash;
mod versions;

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

use self::op::{Op, Parts, Scale, op, real, small};
use self::stages::Edit;
use self::trash::{Trashed, rebase};
use crate::clocks::Clocks;
use crate::postgres_server::fresh_schema;
use crate::raw::key;
use crate::uploads::{begin, complete, part};
use crate::world::{World, assert_clean, at, avu, cases, crc64nvme, noise, path, run, world_on};

/// Attributes and their values.
type Avus = BTreeSet<(String, String)>;

/// The resource at a path, as visible to a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Node {
    id: u64,
    kind: Kind,
    bytes: Vec<u8>,
    target: Option<String>,
    avus: Avus,
    versions: Vec<(Vec<u8>, Avus)>,
    keeps: bool,
    /// Whether the last version is the current state.
    is_kept: bool,
    /// How often the bytes were written.
    written: u64,
    /// How often the description was changed.
    described: u64,
    retains: Option<bool>,
    /// The limit, in bytes, of removed resources kept at or below it.
    limit: Option<u64>,
}

#[derive(Debug, Default, Clone)]
struct Model {
    nodes: BTreeMap<StorePath, Node>,
    /// By id.
    trash: BTreeMap<u64, Trashed>,
    /// The number of trees moved there.
    removals: u64,
    /// The description of the root, and how often it was changed.
    retains: Option<bool>,
    limit: Option<u64>,
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

    /// Whether changes at `at` keep versions.
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

    fn path_of(&self, id: u64) -> Option<StorePath> {
        if id == ResourceId::ROOT.0 {
            return Some(StorePath::root());
        }
        self.nodes.iter().find(|(_, node)| node.id == id).map(|(path, _)| path.clone())
    }

    /// The missing ancestors of `at`, the topmost first, if creating there is allowed.
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

    /// Keeps the current state before a change, if required and not done yet.
    fn keep_replaced(&mut self, at: &StorePath) {
        let keeps = self.keeps(at);
        let node = self.nodes.get_mut(at).unwrap();
        if keeps && !node.is_kept {
            node.versions.push((node.bytes.clone(), node.avus.clone()));
        }
        node.is_kept = false;
    }

    /// What the clocks of each resource represent, by its id: how often its content and its description changed, and
    /// the names and ids of its children.
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
    /// The bytes of each replica when last read: id of the object, number, bytes.
    replicas: BTreeMap<(u64, u32), Vec<u8>>,
    /// Those in progress.
    stages: Vec<stages::Stage>,
}

/// Three places and a group of two of them.
const PLACES: [&str; 4] = ["main", "a", "b", "pair"];

impl Pair {
    fn of(world: World) -> Self {
        let (replicas, stages) = (BTreeMap::new(), Vec::new());
        Self { world, model: Model::default(), replicas, stages }
    }

    /// Adds the store's attributes of a new resource to the model.
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
            limit: None,
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
            Op::Default(place) => self.make_default(PLACES[*place]),
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
            Op::Limit(below, bytes) => self.limit(below.as_ref(), *bytes),
            Op::Fit => self.fit(),
            Op::EmptyAll => self.empty_all(),
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

    /// Applies a change and compares which clocks moved: exactly those of what it changed. The tag of a content may
    /// recur with its bytes.
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

/// After everything is removed and swept, only the feed is left.
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
    fn the_store_agrees_with_its_model(ops in vec(op(&small()), 1..50)) {
        play(world_on(MemoryEngine::new(), Place::memory("main")), &ops);
    }
}

proptest! {
    #![proptest_config(cases(4))]

    #[test]
    fn the_store_agrees_with_its_model_on_disk(ops in vec(op(&small()), 1..25)) {
        let dir = tempfile::tempdir().unwrap();
        let options = FjallOptions { reserve: 0, ..FjallOptions::default() };
        let engine = FjallEngine::open(dir.path().join("catalog"), options).unwrap();
        let place = Place::local("main", dir.path().join("contents")).unwrap();
        play(world_on(engine, place), &ops);
    }

    #[test]
    fn the_store_agrees_with_its_model_on_postgres(ops in vec(op(&small()), 1..12)) {
        let Some(config) = fresh_schema() else { return Ok(()) };
        play(world_on(PostgresEngine::open(&config).unwrap(), Place::memory("main")), &ops);
    }

    #[test]
    fn the_store_agrees_with_its_model_at_real_sizes(ops in vec(op(&real()), 1..20)) {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::local("main", dir.path()).unwrap();
        play(world_on(MemoryEngine::new(), place).with_limits(Limits::default()), &ops);
    }
}
