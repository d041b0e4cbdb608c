//! Walks and searches of the past: random histories against a plain list of the states of the store after each step,
//! with more changes between the pages.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cenote_store::{
    Comparison, Condition, ErrorKind, Kind, Moment, PastEntry, PastSearch, PastWalk, Result,
    StorePath,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::past::{Op, Snapshot, Was, apply, keeping, loss, op, snapshot};
use crate::world::{World, at, cases, kind, path, run};

/// The result of a walk: the id of each path, and whether its attributes are kept.
type Given = Vec<(StorePath, (u64, bool))>;

/// The whole result of a walk, in pages of `limit`, with a change after each.
fn finish(
    world: &World,
    mut walk: PastWalk,
    limit: usize,
    meanwhile: &mut Ops<'_>,
) -> Result<Given> {
    let mut given = Vec::new();
    while !walk.is_over() {
        let page = world.store.walk_further(&mut walk, limit)?;
        assert!(page.len() <= limit);
        given.extend(page.into_iter().map(|entry| match entry {
            PastEntry::Kept(past) => (past.path, (past.id.0, true)),
            PastEntry::Lost { id, path } => (path, (id.0, false)),
        }));
        meanwhile.step(world);
    }
    assert!(world.store.walk_further(&mut walk, limit)?.is_empty());
    Ok(given)
}

/// Changes still to be made.
struct Ops<'a> {
    left: std::slice::Iter<'a, Op>,
    made: u64,
}

impl Ops<'_> {
    fn step(&mut self, world: &World) {
        if let Some(op) = self.left.next() {
            world.clock.advance(Duration::from_secs(1));
            apply(world, op, self.made);
            self.made += 1;
        }
    }
}

/// Compares the result with the former state: nothing is invented or returned twice, everything is in order, and
/// nothing is missing except children of resources that are not kept.
fn compare<'a>(given: &Given, was: impl Iterator<Item = (&'a StorePath, &'a Was)>, complete: bool) {
    let paths: Vec<_> = given.iter().map(|(path, _)| path.clone()).collect();
    let mut sorted = paths.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(paths, sorted);
    let lost: BTreeSet<_> = given.iter().filter(|(_, (_, kept))| !kept).map(|it| &it.0).collect();
    assert!(!complete || lost.is_empty(), "{lost:?}");
    let given: BTreeMap<_, _> = given.iter().cloned().collect();
    let mut expected = BTreeSet::new();
    for (path, was) in was {
        expected.insert(path.clone());
        match given.get(path) {
            Some((id, _)) => assert_eq!(*id, was.id, "{path}"),
            None => assert!(lost.iter().any(|above| path.starts_with(above)), "{path} is missing"),
        }
    }
    let kept = given.iter().filter(|(_, (_, kept))| *kept).map(|(path, _)| path);
    kept.for_each(|path| assert!(expected.contains(path), "{path} was not there"));
}

fn below<'a>(
    snapshot: &'a Snapshot,
    top: &StorePath,
) -> impl Iterator<Item = (&'a StorePath, &'a Was)> {
    snapshot.tree.iter().filter(move |(path, _)| path.starts_with(top) && *path != top)
}

/// Conditions, a pattern for names and a kind, and what matches them.
type Sought = (Vec<Condition>, Option<&'static str>, Option<Kind>, fn(&StorePath, &Was) -> bool);

/// The searches to try.
fn searches() -> [Sought; 4] {
    let condition = |attribute: &str, comparison, value: &str| Condition {
        attribute: attribute.to_owned(),
        comparison,
        value: value.to_owned(),
        unit: None,
    };
    fn named_a(path: &StorePath) -> bool {
        path.names().last().is_some_and(|name| name.as_str() == "a")
    }
    [
        (vec![], Some("a"), None, |path, _| named_a(path)),
        (vec![], None, Some(Kind::Object), |_, was| was.kind == Kind::Object),
        (vec![condition("k1", Comparison::Exists, "")], None, None, |_, was| {
            was.avus.iter().any(|(attribute, _)| attribute == "k1")
        }),
        (vec![condition("k2", Comparison::Like, "2 %")], Some("a"), None, |path, was| {
            named_a(path) && was.avus.iter().any(|(attribute, _)| attribute == "k2")
        }),
    ]
}

/// Reads everything below a collection in each way, and compares it with the snapshot.
fn check_past(
    world: &World,
    top: &StorePath,
    snapshot: &Snapshot,
    complete: bool,
    meanwhile: &mut Ops<'_>,
) {
    let (store, admin, moment) = (&world.store, &world.admin, Moment::Position(snapshot.position));
    let refused = |error: &cenote_store::Error| error.kind() == ErrorKind::Expired && !complete;
    let walk = store.walk_as_of(admin, top, moment, None).unwrap();
    match finish(world, walk, 2, meanwhile) {
        Err(error) if refused(&error) => return,
        given => compare(&given.unwrap(), below(snapshot, top), complete),
    }
    for (conditions, name, kind, matches) in searches() {
        let (under, name) = (top.clone(), name.map(str::to_owned));
        let search = PastSearch { under, moment, after: None, conditions, name, kind, text: None };
        let search = store.search_as_of(admin, &search).unwrap();
        match finish(world, search, 3, meanwhile) {
            Err(error) if refused(&error) => return,
            given => {
                let wanted = below(snapshot, top).filter(|(path, was)| matches(path, was));
                compare(&given.unwrap(), wanted, complete);
            }
        }
    }
}

/// The bytes of all objects, by one reader, with a change between its requests.
fn read(world: &World, snapshot: &Snapshot, complete: bool, meanwhile: &mut Ops<'_>) {
    let moment = Moment::Position(snapshot.position);
    let mut reader = world.store.at_moment(&world.admin, moment).unwrap();
    let paths: Vec<_> = snapshot.tree.keys().cloned().collect();
    for paths in paths.chunks(3) {
        let opened = world.store.open_at(&mut reader, paths).unwrap();
        for (path, opened) in paths.iter().zip(opened) {
            let was = &snapshot.tree[path];
            match opened {
                Some((past, opened)) => {
                    assert_eq!((past.id.0, &past.path), (was.id, path));
                    let bytes = run(opened.read_all()).unwrap().to_vec();
                    assert_eq!(Some(bytes), was.bytes, "{path}");
                }
                None => assert!(was.bytes.is_none() || !complete, "{path}"),
            }
        }
        meanwhile.step(world);
    }
}

fn play(before: &[Op], later: &[Op], complete: bool) {
    let world = keeping();
    let mut snapshots = vec![snapshot(&world)];
    for (n, op) in before.iter().enumerate() {
        world.clock.advance(Duration::from_secs(1));
        apply(&world, op, n as u64);
        snapshots.push(snapshot(&world));
    }
    let mut meanwhile = Ops { left: later.iter(), made: before.len() as u64 };
    for snapshot in &snapshots {
        check_past(&world, &StorePath::root(), snapshot, complete, &mut meanwhile);
        let collections = snapshot.tree.iter().filter(|(_, was)| was.kind == Kind::Collection);
        for (top, _) in collections {
            check_past(&world, top, snapshot, complete, &mut meanwhile);
        }
        read(&world, snapshot, complete, &mut meanwhile);
    }
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn a_walk_of_the_past_is_unaffected_by_concurrent_changes(
        before in vec(op(), 1..20),
        later in vec(op(), 0..20),
    ) {
        play(&before, &later, true);
    }

    #[test]
    fn a_walk_of_the_past_reports_resources_not_kept_and_invents_nothing(
        before in vec(prop_oneof![4 => op(), 1 => loss()], 1..20),
        later in vec(prop_oneof![4 => op(), 1 => loss()], 0..20),
    ) {
        play(&before, &later, false);
    }
}

#[test]
fn a_walk_of_the_past_resumes_after_any_path() {
    let world = keeping();
    for folder in ["/c", "/c/d", "/c/e"] {
        world.mkdir(folder);
    }
    for name in ["/c/a", "/c/d/x", "/c/d/y", "/c/e/z"] {
        world.put(name, b"1");
    }
    let then = Moment::Position(world.store.newest_change().unwrap());
    world.rm_all("/c/d").unwrap();
    world.mv("/c/e", "/f").unwrap();
    let all = ["/c/a", "/c/d", "/c/d/x", "/c/d/y", "/c/e", "/c/e/z"];
    let mut none = Ops { left: [].iter(), made: 0 };
    let mut from = |after: Option<&str>| {
        let after = after.map(path);
        let walk = world.store.walk_as_of(&world.admin, &path("/c"), then, after.as_ref()).unwrap();
        let given = finish(&world, walk, 10, &mut none).unwrap();
        given.into_iter().map(|(path, _)| path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(from(None), all);
    for (n, after) in all.iter().enumerate() {
        assert_eq!(from(Some(after)), all[n + 1..], "{after}");
    }
    // The path need not have existed.
    assert_eq!(from(Some("/c/d/never")), ["/c/d/x", "/c/d/y", "/c/e", "/c/e/z"]);
    let outside = world.store.walk_as_of(&world.admin, &path("/c"), then, Some(&path("/f/a")));
    assert_eq!(kind(outside), ErrorKind::Invalid);
    let mut walk = world.store.walk_as_of(&world.admin, &path("/c/a"), then, None).unwrap();
    assert_eq!(kind(world.store.walk_further(&mut walk, 10)), ErrorKind::WrongKind);
}

#[test]
fn a_search_of_the_past_reports_what_it_cannot_know() {
    let world = keeping();
    for folder in ["/c", "/c/gone"] {
        world.mkdir(folder);
    }
    for name in ["/c/gone/x", "/c/lost", "/c/other", "/c/stays"] {
        world.put(name, b"1");
    }
    let then = Moment::Position(world.store.newest_change().unwrap());
    world.rm_all("/c/gone").unwrap();
    world.store.empty_trash(&world.admin).unwrap();
    for name in ["/c/lost", "/c/other"] {
        world.put(name, b"2");
        let all = cenote_store::Prune::All(cenote_store::Retention::last(0));
        world.store.prune_versions(&world.admin, &at(name), &all).unwrap();
    }
    let search = PastSearch {
        under: path("/c"),
        moment: then,
        after: None,
        conditions: Vec::new(),
        name: Some("[ls]*".to_owned()),
        kind: None,
        text: None,
    };
    let search = world.store.search_as_of(&world.admin, &search).unwrap();
    let given = finish(&world, search, 10, &mut Ops { left: [].iter(), made: 0 }).unwrap();
    let given: Vec<_> = given.iter().map(|(path, (_, kept))| (path.to_string(), *kept)).collect();
    let expected = [("/c/gone", false), ("/c/lost", false), ("/c/stays", true)];
    assert_eq!(given, expected.map(|(path, kept)| (path.to_owned(), kept)));
}

/// For callers who may not see a resource now, or could not see it at its former path, it is missing from a walk, a
/// search and a reader alike; also if it was in a collection that they may not list.
#[test]
fn no_walk_of_the_past_reveals_hidden_resources() {
    use cenote_store::{AccessChange, Rights, Scope};
    let world = keeping();
    let user = world.user("u");
    let grant = |what: &str, rights: Rights| {
        let grant = AccessChange::Grant("u".into(), rights.into(), Scope::This);
        world.store.change_access(&world.admin, &at(what), &[grant]).unwrap();
    };
    let reading = Rights::READ_DESCRIPTION.union(Rights::READ_CONTENT).union(Rights::LIST);
    for folder in ["/open", "/open/shut", "/private"] {
        world.mkdir(folder);
    }
    grant("/open", reading);
    for name in ["/open/hidden", "/open/moved", "/open/stays", "/open/shut/given", "/open/shut/in"]
    {
        world.put(name, b"1");
    }
    for name in ["/open/hidden", "/open/moved", "/open/stays", "/open/shut/given"] {
        grant(name, reading);
    }
    let then = Moment::Position(world.store.newest_change().unwrap());
    world.put("/open/stays", b"2");
    grant("/open/hidden", Rights::NONE);
    world.mv("/open/moved", "/private/moved").unwrap();
    grant("/private/moved", Rights::NONE);
    let mut none = Ops { left: [].iter(), made: 0 };
    let walk = world.store.walk_as_of(&user, &path("/open"), then, None).unwrap();
    let walked = finish(&world, walk, 10, &mut none).unwrap();
    let search = PastSearch {
        under: path("/open"),
        moment: then,
        after: None,
        conditions: Vec::new(),
        name: None,
        kind: None,
        text: None,
    };
    let search = world.store.search_as_of(&user, &search).unwrap();
    let found = finish(&world, search, 10, &mut none).unwrap();
    let names = |given: &Given| given.iter().map(|it| it.0.to_string()).collect::<Vec<_>>();
    assert_eq!(names(&walked), ["/open/stays"]);
    // Like a search of the present, it finds shared resources in a collection that is not shared.
    assert_eq!(names(&found), ["/open/shut/given", "/open/stays"]);
    let mut reader = world.store.at_moment(&user, then).unwrap();
    let paths = ["/open/hidden", "/open/moved", "/open/shut/in", "/open/stays"].map(path);
    let opened = world.store.open_at(&mut reader, &paths).unwrap();
    assert_eq!(opened.iter().map(Option::is_some).collect::<Vec<_>>(), [false, false, false, true]);
    let mut walk = world.store.walk_as_of(&user, &path("/open/shut"), then, None).unwrap();
    assert_eq!(kind(world.store.walk_further(&mut walk, 10)), ErrorKind::NotFound);
}
