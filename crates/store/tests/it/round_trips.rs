//! The cost of operations in calls of the catalog's engine: a stated number each, whatever the depth of the path and
//! the size of its collection. Over a network each call is a round trip.

use std::sync::Arc;

use cenote_blob::Place;
use cenote_kv::{CountingEngine, Counts, MemoryEngine};
use cenote_store::{BatchItem, BatchWhat, Expected, ListOptions, PutOptions};

use crate::world::{World, at, path, world_on};

/// A store whose calls are counted, with a collection of this many objects at this depth.
struct Counted {
    world: World,
    engine: CountingEngine,
    path: String,
}

impl Counted {
    fn new(depth: usize, children: usize) -> Self {
        let engine = CountingEngine::new(Arc::new(MemoryEngine::new()));
        let world = world_on(engine.clone(), Place::memory("main"));
        let mut path = String::new();
        for level in 0..depth {
            path = format!("{path}/d{level}");
            world.mkdir(&path);
        }
        for child in 0..children {
            world.put(&format!("{path}/{child:05}"), b"content");
        }
        Self { world, engine, path }
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.path)
    }

    /// The cost of each operation on an unknown object in a known collection, then on a known one.
    fn costs(&self) -> Vec<(&'static str, Counts)> {
        let Self { world, engine, .. } = self;
        let (one, two) = (self.path("00001"), self.path("00002"));
        let list = || world.store.list(&world.admin, &at(&self.path), &ListOptions::default());
        let detailed = || {
            let options = ListOptions::default();
            world.store.list_detailed(&world.admin, &at(&self.path), &options, true)
        };
        let announced = || {
            let expected = Expected { length: Some(1), ..Expected::default() };
            let options = PutOptions { expected, ..PutOptions::default() };
            drop(world.try_put(&world.admin, &self.path("small"), b"x", options).unwrap());
        };
        vec![
            ("stat, not met", engine.cost(|| drop(world.stat(&one).unwrap()))),
            ("stat", engine.cost(|| drop(world.stat(&one).unwrap()))),
            ("get", engine.cost(|| drop(world.read(&one)))),
            ("put new", engine.cost(|| drop(world.put(&self.path("new"), b"x")))),
            ("put small", engine.cost(announced)),
            ("put over, not met", engine.cost(|| drop(world.put(&two, b"x")))),
            ("put over", engine.cost(|| drop(world.put(&two, b"y")))),
            ("describe", engine.cost(|| drop(world.describe(&one, "a", "b")))),
            ("mkdir", engine.cost(|| drop(world.mkdir(&self.path("sub"))))),
            ("list", engine.cost(|| drop(list().unwrap()))),
            ("list with descriptions", engine.cost(|| drop(detailed().unwrap()))),
            ("mv", engine.cost(|| drop(world.mv(&one, &self.path("moved")).unwrap()))),
            ("rm, not met", engine.cost(|| world.rm(&self.path("moved")).unwrap())),
        ]
    }

    /// The cost of removing and restoring if the root has a trash.
    fn costs_of_trash(&self) -> Vec<(&'static str, Counts)> {
        let Self { world, engine, .. } = self;
        world.keep_removed("/", 86_400);
        let one = self.path("00003");
        let id = world.stat(&one).unwrap().id;
        // The collection was also found by its id.
        world.store.stat(&world.admin, &world.stat(&self.path).unwrap().id.into()).unwrap();
        let options = cenote_store::RestoreOptions::default();
        let restored = || drop(world.store.restore_removed(&world.admin, id, &options).unwrap());
        let emptied = || world.store.empty_trash_of(&world.admin, id).unwrap();
        vec![
            ("rm, kept", engine.cost(|| world.rm(&one).unwrap())),
            ("restore", engine.cost(restored)),
            ("rm, kept", engine.cost(|| world.rm(&one).unwrap())),
            ("empty", engine.cost(emptied)),
        ]
    }
}

/// Snapshots, reads and commits that each operation may cost, as `docs/SEMANTICS.md` states them.
const STATED: [(&str, [u64; 3]); 13] = [
    ("stat, not met", [1, 2, 0]),
    ("stat", [1, 1, 0]),
    ("get", [1, 2, 0]),
    ("put new", [2, 2, 1]),
    ("put small", [1, 1, 1]),
    ("put over, not met", [2, 3, 1]),
    ("put over", [2, 2, 1]),
    ("describe", [1, 2, 1]),
    ("mkdir", [1, 1, 1]),
    ("list", [1, 3, 0]),
    ("list with descriptions", [1, 19, 0]),
    ("mv", [1, 2, 1]),
    ("rm, not met", [1, 9, 1]),
];

/// The same for the trash.
const STATED_OF_TRASH: [(&str, [u64; 3]); 4] = [
    ("rm, kept", [1, 2, 1]),
    ("restore", [1, 5, 1]),
    ("rm, kept", [1, 2, 1]),
    ("empty", [1, 8, 1]),
];

#[test]
fn no_operation_costs_more_calls_in_a_deep_or_a_large_collection() {
    for (depth, children) in [(1, 10), (4, 10), (16, 10), (64, 10), (255, 10), (4, 1_000)] {
        let counted = Counted::new(depth, children);
        let costs = counted.costs().into_iter().chain(counted.costs_of_trash());
        for ((what, cost), (stated, most)) in costs.zip(STATED.into_iter().chain(STATED_OF_TRASH)) {
            assert_eq!(what, stated);
            let calls = [cost.snapshots, cost.reads(), cost.commits];
            println!("depth {depth}, {children} children, {what}: {calls:?}");
            let within = calls.iter().zip(most).all(|(calls, most)| *calls <= most);
            assert!(within, "{what} at {depth} of {children}: {cost:?}, stated {most:?}");
        }
    }
}

/// Known resources are found by one read, whatever their number.
#[test]
fn known_paths_are_found_with_one_read() {
    let counted = Counted::new(4, 100);
    let Counted { world, engine, .. } = &counted;
    let paths: Vec<_> = (0..100).map(|n| at(&counted.path(&format!("{n:05}")))).collect();
    let stat = || world.store.stat_many(&world.admin, &paths).unwrap();
    let alone: Vec<_> =
        paths.iter().map(|at| world.store.stat(&world.admin, at).unwrap()).collect();
    let cost = engine.cost(|| drop(stat()));
    assert_eq!([cost.snapshots, cost.reads(), cost.commits], [1, 1, 0]);
    assert_eq!(stat().into_iter().collect::<Result<Vec<_>, _>>().unwrap(), alone);
    let ids: Vec<_> = alone.iter().map(|stat| stat.id.into()).collect();
    world.store.stat_many(&world.admin, &ids).unwrap();
    let cost = engine.cost(|| drop(world.store.stat_many(&world.admin, &ids).unwrap()));
    assert_eq!([cost.snapshots, cost.reads(), cost.commits], [1, 1, 0]);
    let items: Vec<_> = (0..100)
        .map(|n| BatchItem {
            path: path(&counted.path(&format!("new{n}"))),
            what: BatchWhat::Collection,
            options: PutOptions::default(),
        })
        .collect();
    let cost = engine.cost(|| drop(world.store.publish_many(&world.admin, &items).unwrap()));
    assert!(cost.reads() <= 2 && cost.commits <= 2, "ids may cost a read and a commit: {cost:?}");
}

/// A server that was just started reads a path level by level, once.
#[test]
fn an_unknown_path_costs_one_read_per_level_once() {
    let counted = Counted::new(64, 2);
    let world = counted.world.reopened();
    let (one, two) = (counted.path("00000"), counted.path("00001"));
    let reads = |path: &str| counted.engine.cost(|| drop(world.stat(path).unwrap())).reads();
    assert_eq!((reads(&one), reads(&one), reads(&two)), (66, 1, 2));
}

/// Also by its id, and after the whole path above it was moved.
#[test]
fn a_moved_resource_costs_one_or_two_more_reads_once() {
    let counted = Counted::new(16, 2);
    let (world, object) = (&counted.world, counted.path("00000"));
    let id = world.stat(&object).unwrap().id;
    let by_id = || drop(world.store.stat(&world.admin, &id.into()).unwrap());
    let cost = |work: &dyn Fn()| counted.engine.cost(work).reads();
    by_id();
    assert_eq!(cost(&by_id), 1);
    world.mkdir("/other");
    world.mv("/d0/d1/d2", "/other/place").unwrap();
    assert_eq!((cost(&by_id), cost(&by_id)), (3, 1));
    let moved = object.replace("/d0/d1/d2", "/other/place");
    let by_path = || drop(world.stat(&moved).unwrap());
    by_path();
    assert_eq!(cost(&by_path), 1);
    assert!(world.stat(&object).is_err());
}
