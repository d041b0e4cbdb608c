//! Lines of access lists that are about a class or one resource, and the classes in the records of resources.

use std::collections::BTreeSet;

use cenote_store::{
    AccessChange, At, AttributeChange, AvuChange, Caller, ChangeKind, CheckOptions, Conditions,
    CopyOptions, ErrorKind, FindingKind, Graph, ListOptions, Only, Position, Query, Resource,
    ResourceId, RestoreOptions, Retention, Rights, Scope, Statement, Store, Term, Versioning,
    avus_of,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use xxhash_rust::xxh3::xxh3_64;

use crate::changesets::{begun, commit};
use crate::check::frame;
use crate::raw::key;
use crate::world::{World, assert_clean, at, avu, cases, findings, kind, path, world};

const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const CLASS: &str = "http://xmlns.com/foaf/0.1/Document";

fn restricted(scope: Scope, only: Only) -> AccessChange {
    AccessChange::GrantOnly("u".into(), Rights::READ_OBJECT.into(), scope, only)
}

fn of_class(scope: Scope) -> AccessChange {
    restricted(scope, Only::Class(CLASS.into()))
}

fn set(world: &World, what: &str, change: AccessChange) {
    world.store.change_access(&world.admin, &at(what), &[change]).unwrap();
}

fn typed(class: &str) -> Statement {
    Statement { subject: None, predicate: TYPE.into(), object: Term::Iri(class.into()), unit: None }
}

fn untype(world: &World, what: &str) {
    let change = [AvuChange::Clear(TYPE.into())];
    world.store.change_avus(&world.admin, &at(what), &change, &Conditions::default()).unwrap();
}

/// A user who may list `/c`, and read the documents in it.
fn documents() -> (World, Caller) {
    let world = world();
    let user = world.user("u");
    world.mkdir("/c");
    world.put("/c/x", b"x");
    set(&world, "/c", of_class(Scope::Default));
    let list = AccessChange::Grant("u".into(), Rights::READ_OBJECT.into(), Scope::This);
    set(&world, "/c", list);
    (world, user)
}

fn listed(world: &World, caller: &Caller) -> Vec<String> {
    let page = world.store.list(caller, &at("/c"), &ListOptions::default()).unwrap();
    page.entries.iter().map(|entry| entry.resource.name.clone()).collect()
}

fn walked(world: &World, caller: &Caller) -> Vec<String> {
    let page = world.store.walk(caller, &at("/c"), None, 100).unwrap();
    page.entries.iter().map(|stat| stat.resource.name.clone()).collect()
}

fn found(world: &World, caller: &Caller) -> Vec<String> {
    let query = Query {
        under: at("/"),
        conditions: Vec::new(),
        name: Some("x".into()),
        kind: None,
        text: None,
        after: None,
        limit: 100,
        effort: Query::EFFORT,
    };
    let page = world.store.search(caller, &query).unwrap();
    page.items.iter().map(|stat| stat.resource.name.clone()).collect()
}

#[test]
fn listings_walks_and_searches_follow_the_class_at_once() {
    let (world, user) = documents();
    for _ in 0..2 {
        for has_class in [false, true] {
            if has_class {
                world.state("/c/x", &[typed(CLASS)]);
            } else {
                untype(&world, "/c/x");
            }
            let expected = if has_class { vec!["x".to_owned()] } else { vec![] };
            assert_eq!(listed(&world, &user), expected);
            assert_eq!(walked(&world, &user), expected);
            assert_eq!(found(&world, &user), expected);
            assert_eq!(world.try_read(&user, "/c/x").is_ok(), has_class);
        }
    }
    assert_clean(&world.store);
}

#[test]
fn lines_with_and_without_a_restriction_do_not_replace_each_other() {
    let (world, _) = documents();
    let id = world.stat("/c/x").unwrap().id;
    let lines = || {
        let lines = world.store.access(&world.admin, &at("/c")).unwrap().1;
        let mine = lines.into_iter().filter(|line| line.name == "u");
        mine.map(|line| (line.scope, line.only)).collect::<BTreeSet<_>>()
    };
    let class = Some(Only::Class(CLASS.into()));
    let one = Some(Only::Resource(id));
    set(&world, "/c", restricted(Scope::Default, Only::Resource(id)));
    set(&world, "/c", AccessChange::Grant("u".into(), Rights::OWN.into(), Scope::Default));
    let all = [
        (Scope::This, None),
        (Scope::Default, None),
        (Scope::Default, class.clone()),
        (Scope::Default, one.clone()),
    ];
    assert_eq!(lines(), all.clone().into());
    set(&world, "/c", AccessChange::Grant("u".into(), Rights::NONE.into(), Scope::Default));
    assert_eq!(lines(), [all[0].clone(), all[2].clone(), all[3].clone()].into());
    let none = |only: &Option<Only>| {
        let (only, rights) = (only.clone().unwrap(), Rights::NONE.into());
        set(&world, "/c", AccessChange::GrantOnly("u".into(), rights, Scope::Default, only));
    };
    none(&class);
    assert_eq!(lines(), [all[0].clone(), all[3].clone()].into());
    world.rm("/c/x").unwrap();
    none(&one);
    assert_eq!(lines(), [all[0].clone()].into(), "also for a resource that was removed");
}

#[test]
fn restrictions_without_effect_are_refused_and_change_nothing() {
    let (world, user) = documents();
    world.put("/other", b"");
    let before = world.stat("/c").unwrap();
    let resource = |path: &str| Only::Resource(world.stat(path).unwrap().id);
    for (scope, only, expected) in [
        (Scope::Default, Only::Class("no IRI".into()), ErrorKind::Invalid),
        (Scope::Default, Only::Class(String::new()), ErrorKind::Invalid),
        (Scope::Default, Only::Class("cenote:/c/x".into()), ErrorKind::Invalid),
        (Scope::Default, Only::Class(format!("urn:{}", "x".repeat(2_048))), ErrorKind::Invalid),
        (Scope::Default, resource("/other"), ErrorKind::Invalid),
        (Scope::Default, resource("/c"), ErrorKind::Invalid),
        (Scope::Default, resource("/"), ErrorKind::Invalid),
        (Scope::This, resource("/c/x"), ErrorKind::Invalid),
        (Scope::Default, Only::Resource(ResourceId(1 << 40)), ErrorKind::NotFound),
    ] {
        let change = [restricted(scope, only.clone())];
        let refused = kind(world.store.change_access(&world.admin, &at("/c"), &change));
        assert_eq!(refused, expected, "{only:?}");
    }
    assert_eq!(world.stat("/c").unwrap(), before);
    let own = AccessChange::Grant("u".into(), Rights::OWN.into(), Scope::This);
    set(&world, "/c", own);
    let hidden = [restricted(Scope::Default, resource("/c/x"))];
    let refused = kind(world.store.change_access(&user, &at("/c"), &hidden));
    assert_eq!(refused, ErrorKind::NotFound, "the answer for what they do not see");
}

#[test]
fn access_lists_and_classes_are_bounded() {
    let (world, _) = documents();
    let lines = |count: usize| -> Vec<_> {
        let class = |n| restricted(Scope::Default, Only::Class(format!("urn:{n}")));
        (0..count).map(class).collect()
    };
    let change = |count| world.store.change_access(&world.admin, &at("/c"), &lines(count));
    assert_eq!(kind(change(10_001)), ErrorKind::TooLarge);
    change(100).unwrap();
    let classes = |count: usize| {
        let classes: Graph = (0..count).map(|n| typed(&format!("urn:{n}"))).collect();
        let all = |_: &Graph| Ok(classes.clone());
        world.store.change_graph(&world.admin, &at("/c/x"), &Conditions::default(), all)
    };
    assert_eq!(kind(classes(1_001)), ErrorKind::TooLarge);
    classes(1_000).unwrap();
    assert_clean(&world.store);
}

/// The position of a change that may have hidden something.
fn hidden(world: &World, caller: &Caller, since: Position) -> Option<Position> {
    world.store.changes(caller, since, 100).unwrap().access
}

#[test]
fn the_feed_reports_what_a_lost_class_hides_and_what_a_new_one_shows() {
    let (world, user) = documents();
    let other = world.user("other");
    let now = || world.store.newest_change().unwrap();
    let begun = now();
    world.state("/c/x", &[typed(CLASS)]);
    let typed_at = now();
    let page = world.store.changes(&user, begun, 100).unwrap();
    let kinds: Vec<_> = page.changes.iter().map(|change| change.kind).collect();
    assert_eq!((kinds, page.access), (vec![ChangeKind::Described], None));
    untype(&world, "/c/x");
    let untyped = now();
    assert_eq!(hidden(&world, &user, typed_at), Some(untyped));
    assert_eq!(world.store.changes(&user, typed_at, 100).unwrap().changes, []);
    assert_eq!(hidden(&world, &other, begun), None, "they never saw it");
    world.state("/c/x", &[typed("urn:another")]);
    assert_eq!(hidden(&world, &user, untyped), None, "a class that no line names");
    world.state("/c/x", &[typed(CLASS)]);
    world.rm("/c/x").unwrap();
    let page = world.store.changes(&user, untyped, 100).unwrap();
    let last = page.changes.last().map(|change| (change.kind, change.name.as_str()));
    assert_eq!(last, Some((ChangeKind::Removed, "x")), "they saw it then");
}

#[test]
fn a_change_set_sees_its_classes_before_others_do() {
    let (world, user) = documents();
    let (inside, id) = begun(&world);
    inside.state("/c/x", &[typed(CLASS)]);
    let seen = |store: &Store| store.rights(&user, &at("/c/x")).is_ok();
    assert_eq!((seen(&inside.store), seen(&world.store)), (true, false));
    drop(inside);
    commit(&world, id).unwrap();
    assert!(seen(&world.store));
    assert_clean(&world.store);
}

/// What the access list of a record has, as far as its fields are concerned.
#[derive(Debug, minicbor::Decode)]
struct Recorded {
    #[n(10)]
    access: RecordedAccess,
}

#[derive(Debug, minicbor::Decode)]
struct RecordedAccess {
    #[n(4)]
    classes: Option<Vec<u64>>,
}

fn recorded(world: &World, id: ResourceId) -> BTreeSet<u64> {
    let row = world.value(&key(b'N', &[id.0]));
    let record: Recorded = minicbor::decode(&row[5..]).unwrap();
    record.access.classes.unwrap_or_default().into_iter().collect()
}

/// The classes by the attributes that every opening shows.
fn described(world: &World, id: ResourceId) -> BTreeSet<u64> {
    let graph = world.store.graph(&world.admin, &At::Id(id)).unwrap().1;
    let typed = avus_of(&graph).into_iter().filter(|avu| avu.attribute == TYPE);
    typed.map(|avu| xxh3_64(avu.value.as_bytes())).collect()
}

fn assert_recorded(world: &World) {
    let all = world.store.walk(&world.admin, &at("/"), None, 1_000).unwrap().entries;
    for stat in all {
        assert_eq!(recorded(world, stat.id), described(world, stat.id), "{}", stat.path);
    }
    assert_clean(&world.store);
}

const PATHS: [&str; 4] = ["/a", "/c", "/c/x", "/c/y"];
const CLASSES: [&str; 3] = [CLASS, "urn:a", "urn:b"];

#[derive(Debug, Clone)]
enum Op {
    State(&'static str, &'static str),
    Attribute(&'static str, AvuChange),
    /// Enough statements for a description that is spread over rows.
    Spread(&'static str),
    Gather(&'static str),
    Restore(&'static str, usize),
    Copy(&'static str, &'static str, bool),
    Describe(&'static str, &'static str),
    Move(&'static str, &'static str),
    Discard(&'static str),
    TakeBack,
    Make(&'static str),
}

fn op() -> impl Strategy<Value = Op> {
    let paths = || select(&PATHS[..]);
    let classes = || select(&CLASSES[..]);
    let value = |class: &str| avu(TYPE, class);
    let change = prop_oneof![
        2 => classes().prop_map(move |class| AvuChange::Add(value(class))),
        2 => classes().prop_map(move |class| AvuChange::Remove(value(class))),
        1 => classes().prop_map(move |class| AvuChange::Set(value(class))),
        1 => Just(AvuChange::Clear(TYPE.into())),
    ];
    prop_oneof![
        3 => (paths(), classes()).prop_map(|(p, c)| Op::State(p, c)),
        4 => (paths(), change).prop_map(|(p, c)| Op::Attribute(p, c)),
        1 => paths().prop_map(Op::Spread),
        1 => paths().prop_map(Op::Gather),
        2 => (paths(), 0usize..3).prop_map(|(p, n)| Op::Restore(p, n)),
        2 => (paths(), paths(), any::<bool>()).prop_map(|(p, q, r)| Op::Copy(p, q, r)),
        1 => (paths(), paths()).prop_map(|(p, q)| Op::Describe(p, q)),
        1 => (paths(), paths()).prop_map(|(p, q)| Op::Move(p, q)),
        1 => paths().prop_map(Op::Discard),
        1 => Just(Op::TakeBack),
        1 => paths().prop_map(Op::Make),
    ]
}

fn change(world: &World, what: &str, change: impl Fn(&Graph) -> Graph) {
    let (to, none) = (at(what), Conditions::default());
    drop(world.store.change_graph(&world.admin, &to, &none, |old| Ok(change(old))));
}

fn filler() -> impl Iterator<Item = Statement> {
    let object = |n: usize| Term::string(format!("{n}{}", "x".repeat(400)));
    let of = move |n| Statement { predicate: "urn:p".into(), object: object(n), ..typed("") };
    (0..100).map(of)
}

/// Any operation may be refused.
fn apply(world: &World, op: &Op) {
    let (store, admin) = (&world.store, &world.admin);
    match op {
        Op::State(what, class) => {
            change(world, what, |old| old.iter().cloned().chain([typed(class)]).collect())
        }
        Op::Attribute(what, change) => {
            let changes = [change.clone()];
            drop(store.change_avus(admin, &at(what), &changes, &Conditions::default()));
        }
        Op::Spread(what) => {
            change(world, what, |old| old.iter().cloned().chain(filler()).collect());
        }
        Op::Gather(what) => change(world, what, |old| {
            old.iter().filter(|it| it.predicate == TYPE).cloned().collect()
        }),
        Op::Restore(what, which) => {
            let versions = store.versions(admin, &at(what)).unwrap_or_default();
            if let Some(version) = versions.get(*which) {
                drop(store.restore_version(admin, &at(what), version.version));
            }
        }
        Op::Copy(from, to, replace) => {
            let (replace, recursive) = (*replace, true);
            let options = CopyOptions { replace, recursive, ..CopyOptions::default() };
            drop(store.copy(admin, &at(from), &path(to), options));
        }
        Op::Describe(from, to) => {
            let none = Conditions::default();
            drop(store.copy_description(admin, &at(from), &at(to), &none));
        }
        Op::Move(from, to) => drop(world.mv(from, to)),
        Op::Discard(what) => {
            if world.stat(what).is_ok() {
                world.discard(what);
            }
        }
        Op::TakeBack => {
            if let Some(item) = world.trash_of(admin).first() {
                drop(store.restore_removed(admin, item.id, &RestoreOptions::default()));
            }
        }
        Op::Make(what) => {
            if world.stat(what).is_err() {
                drop(world.try_put(admin, what, b"", Default::default()));
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn recorded_classes_are_those_of_the_description(ops in vec(op(), 1..32)) {
        let world = world();
        world.keep_removed("/", 86_400);
        let versioning = Some(Some(Versioning::EachChange(Retention::default())));
        let change = AttributeChange { versioning, ..AttributeChange::default() };
        world.store.set_attributes(&world.admin, &at("/"), &change).unwrap();
        world.mkdir("/c");
        ["/a", "/c/x", "/c/y"].iter().for_each(|object| drop(world.put(object, b"")));
        for op in &ops {
            apply(&world, op);
            assert_recorded(&world);
        }
    }
}

#[test]
fn a_check_finds_and_mends_classes_that_are_not_those_of_the_description() {
    let (world, user) = documents();
    world.state("/c/x", &[typed(CLASS)]);
    world.put("/c/y", b"");
    let [x, y] = ["/c/x", "/c/y"].map(|path| world.stat(path).unwrap().id);
    let row = |id: ResourceId| key(b'N', &[id.0]);
    let with = |id: ResourceId, from: ResourceId| {
        let decode = |id| minicbor::decode::<Resource>(&world.value(&row(id))[5..]).unwrap();
        let (resource, other) = (decode(id), decode(from));
        let access = other.access;
        world.raw_put(row(id), frame(&minicbor::to_vec(Resource { access, ..resource }).unwrap()));
    };
    with(y, x);
    assert_eq!(world.store.rights(&user, &at("/c/y")).unwrap(), Rights::READ_OBJECT, "the damage");
    let found = findings(&world.store, CheckOptions { repair: true, contents: 0 });
    let reported: Vec<_> = found.iter().map(|it| (it.kind, it.id.clone(), it.repaired)).collect();
    assert_eq!(reported, [(FindingKind::Index, y.0.to_string(), true)], "{found:?}");
    assert_eq!(kind(world.store.rights(&user, &at("/c/y"))), ErrorKind::NotFound);
    with(x, y);
    let found = findings(&world.store, CheckOptions { repair: true, contents: 0 });
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(world.store.rights(&user, &at("/c/x")).is_ok());
    assert_clean(&world.store);
}
