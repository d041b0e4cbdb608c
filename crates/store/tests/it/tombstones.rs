//! Removed resources at a path, for openings with tombstones; and resources created with their description.

use cenote_store::{
    At, AvuChange, Caller, Conditions, CreateOptions, Dangling, Draft, ErrorKind, Graph,
    RemoveOptions, RestoreOptions, Rights, Scope, Statement, StorePath, Term,
};
use proptest::prelude::*;

use crate::world::{World, assert_clean, at, avu, path, world};

const DAY: u64 = 86_400;

fn kept() -> World {
    let world = world();
    world.keep_removed("/", DAY);
    world
}

fn remove(world: &World, of: &str) {
    let options = RemoveOptions { recursive: true, versions: true, ..RemoveOptions::default() };
    world.store.remove(&world.admin, &at(of), &options).unwrap();
}

/// The result of looking up a removed resource: the path of the tombstone, and whether it is that of the resource
/// itself.
fn found(world: &World, caller: &Caller, of: &str) -> Option<(String, bool)> {
    let found = world.store.tombstone(caller, &path(of)).unwrap()?;
    let id = found.id?;
    Some((found.removed.path.clone(), found.removed.id == id))
}

/// The path of the tombstone on the way to where nothing was.
fn on_the_way(world: &World, caller: &Caller, of: &str) -> Option<String> {
    let found = world.store.tombstone(caller, &path(of)).unwrap()?;
    found.id.is_none().then(|| found.removed.path.clone())
}

#[test]
fn a_removed_resource_is_found_by_its_path_with_everything_below() {
    let world = kept();
    for of in ["/lab", "/lab/run", "/lab/run/deep", "/other"] {
        world.mkdir(of);
    }
    remove(&world, "/lab/run/deep");
    assert_eq!(found(&world, &world.admin, "/lab/run/deep"), Some(("/lab/run/deep".into(), true)));
    remove(&world, "/lab");
    let of = |of: &str| found(&world, &world.admin, of);
    assert_eq!(of("/lab"), Some(("/lab".into(), true)));
    assert_eq!(of("/lab/run"), Some(("/lab".into(), false)));
    assert_eq!(
        of("/lab/run/deep"),
        Some(("/lab/run/deep".into(), true)),
        "removed by itself before"
    );
    for none in ["/", "/other", "/lab/none", "/la", "/labs", "/other/lab"] {
        assert_eq!(of(none), None, "{none}");
    }
    assert_clean(&world.store);
}

#[test]
fn a_tombstone_is_found_from_below_it() {
    let world = kept();
    let grace = world.user("grace");
    for of in ["/lab", "/lab/run", "/lab/run/deep"] {
        world.mkdir(of);
    }
    remove(&world, "/lab/run/deep");
    let of = |of: &str| on_the_way(&world, &world.admin, of);
    assert_eq!(of("/lab/run/deep/new/er"), Some("/lab/run/deep".into()));
    remove(&world, "/lab");
    for below in ["/lab/new", "/lab/new/er", "/lab/run/new"] {
        assert_eq!(of(below), Some("/lab".into()), "{below}");
        assert_eq!(on_the_way(&world, &grace, below), None, "{below}");
    }
    assert_eq!(of("/lab/run/deep/new"), Some("/lab/run/deep".into()));
    for none in ["/lab", "/lab/run", "/other/new", "/labs/new"] {
        assert_eq!(of(none), None, "{none}");
    }
    assert_clean(&world.store);
}

#[test]
fn the_newest_of_several_removed_is_found_unless_the_path_is_in_use() {
    let world = kept();
    let mut ids = Vec::new();
    for _ in 0..3 {
        world.mkdir("/a");
        ids.push(world.store.stat(&world.admin, &at("/a")).unwrap().id);
        remove(&world, "/a");
    }
    let newest = || world.store.tombstone(&world.admin, &path("/a")).unwrap().and_then(|it| it.id);
    assert_eq!(newest(), Some(ids[2]));
    let options = RestoreOptions::default();
    world.store.restore_removed(&world.admin, ids[2], &options).unwrap();
    assert_eq!(newest(), None, "it is there again");
    let other = RestoreOptions { to: Some(path("/b")), parents: false };
    world.store.restore_removed(&world.admin, ids[0], &other).unwrap();
    remove(&world, "/a");
    world.store.empty_trash_of(&world.admin, ids[2]).unwrap();
    assert_eq!(newest(), Some(ids[1]));
    world.store.empty_trash(&world.admin).unwrap();
    assert_eq!(newest(), None);
    assert_clean(&world.store);
}

#[test]
fn a_tombstone_is_visible_to_those_who_could_see_the_resource() {
    let world = kept();
    let grace = world.user("grace");
    world.mkdir("/open");
    world.mkdir("/hidden");
    let read = cenote_store::AccessChange::Grant(
        "grace".into(),
        Rights::READ_DESCRIPTION.into(),
        Scope::This,
    );
    world.store.change_access(&world.admin, &at("/open"), &[read]).unwrap();
    remove(&world, "/open");
    remove(&world, "/hidden");
    assert!(found(&world, &grace, "/open").is_some());
    assert!(found(&world, &grace, "/hidden").is_none());
}

fn statement(value: &str) -> Statement {
    Statement { subject: None, predicate: "urn:p".into(), object: Term::string(value), unit: None }
}

#[test]
fn a_resource_is_created_with_its_description_or_not_at_all() {
    let world = world();
    let create = |of: &str, graph: &Graph| {
        let options = CreateOptions { parents: true, exist_ok: true, ..CreateOptions::default() };
        let made = world.store.create_described(
            &world.admin,
            &path(of),
            &Draft::Collection,
            options,
            (graph, Dangling::Kept),
        );
        made.map_err(|error| error.kind())
    };
    let graph = Graph::from([statement("one"), statement("two")]);
    create("/a/b", &graph).unwrap();
    assert_eq!(world.store.graph(&world.admin, &at("/a/b")).unwrap().1, graph);
    assert_eq!(create("/a/b", &Graph::new()), Err(ErrorKind::Exists), "it is left as it is");
    let too_long = Graph::from([statement(&"x".repeat(2 << 20))]);
    assert_eq!(create("/c/d", &too_long), Err(ErrorKind::TooLarge));
    assert!(world.store.stat(&world.admin, &at("/c")).is_err(), "nor its collection");
    let link = Statement { object: Term::Iri("cenote:/a".into()), ..statement("") };
    create("/e", &Graph::from([link])).unwrap();
    world.mv("/a", "/moved").unwrap();
    let shown = world.store.graph(&world.admin, &at("/e")).unwrap().1;
    let objects: Vec<_> = shown.iter().map(|it| it.object.text().to_owned()).collect();
    assert_eq!(objects, ["cenote:/moved"]);
    let changes = [AvuChange::Add(avu("k", "v"))];
    world
        .store
        .change_avus(&world.admin, &At::from(path("/e")), &changes, &Conditions::default())
        .unwrap();
    assert_clean(&world.store);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// Names of which one is a prefix of another, removed and recreated in any order.
    #[test]
    fn any_name_is_found_as_the_last_removed_resource(steps in proptest::collection::vec("[ab]{1,3}", 1..12)) {
        let world = kept();
        let mut removed = std::collections::HashMap::new();
        for name in &steps {
            let of = format!("/{name}");
            world.mkdir(&of);
            let id = world.store.stat(&world.admin, &at(&of)).unwrap().id;
            remove(&world, &of);
            removed.insert(of, id);
        }
        for (of, id) in removed {
            let of: StorePath = of.parse().unwrap();
            let found = world.store.tombstone(&world.admin, &of).unwrap().unwrap();
            prop_assert_eq!((found.id, found.removed.id), (Some(id), id));
        }
    }
}
