//! Hints decide nothing: a store whose hints are wrong in every way does and answers what one without any does.

use std::sync::{Arc, OnceLock};

use cenote_blob::Place;
use cenote_kv::{Batch, Engine, KeyRange, MemoryEngine, Row, ScanOptions};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::catalog::{Child, Reads, keys};
use crate::model::{At, Name, ResourceId, StorePath, Time};
use crate::resources::locate;
use crate::store::Parts;
use crate::{
    AccessChange, Caller, Clock, CreateOptions, Draft, Entropy, MoveOptions, NewUser,
    RemoveOptions, Result, Rights, Role, Scope, Store,
};

#[derive(Debug)]
struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Time {
        Time::from_nanos(1_700_000_000_000_000_000)
    }
}

#[derive(Debug)]
struct Same;

impl Entropy for Same {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(7);
    }
}

fn parts(engine: MemoryEngine) -> Parts {
    let parts = Parts::new(engine, Place::memory("main"));
    Parts { clock: Arc::new(Stopped), entropy: Arc::new(Same), ..parts }
}

/// The rows of a store with an administrator and a user: making them costs as much as many cases.
fn fresh() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let engine = MemoryEngine::new();
        let store = Store::create_new(parts(engine.clone()), "root", "a password").unwrap();
        let user = NewUser { name: "user".into(), password: None, role: Role::User };
        store.add_user(&caller(&store, "root"), &user).unwrap();
        rows(&engine)
    })
}

fn rows(engine: &MemoryEngine) -> Vec<Row> {
    let view = engine.snapshot().unwrap();
    view.scan(&KeyRange::all(), ScanOptions::default()).collect::<Result<_, _>>().unwrap()
}

fn caller(store: &Store, name: &str) -> Caller {
    store.caller_for(store.person_named(name).unwrap().0).unwrap()
}

/// A store with its engine.
fn store() -> (Store, MemoryEngine) {
    let engine = MemoryEngine::new();
    let mut batch = Batch::default();
    for (key, value) in fresh() {
        batch.put(key.clone(), value.clone());
    }
    engine.commit(batch).unwrap();
    (Store::open_existing(parts(engine.clone())).unwrap(), engine)
}

/// A request to a store, by one of two callers.
#[derive(Debug, Clone)]
enum Change {
    Make(StorePath, bool),
    Put(StorePath),
    Move(StorePath, StorePath),
    Remove(At),
    Share(At, Rights),
}

fn change(store: &Store, caller: &Caller, change: &Change) -> String {
    let create = |path: &StorePath, draft, parents| {
        let options = CreateOptions { parents, ..CreateOptions::default() };
        store.create(caller, path, draft, options)
    };
    let answer = match change {
        Change::Make(path, parents) => create(path, Draft::Collection, *parents),
        Change::Put(path) => create(path, Draft::Description, false),
        Change::Move(from, to) => {
            let options = MoveOptions { replace: true, ..MoveOptions::default() };
            store.relocate(caller, &from.into(), to, options)
        }
        Change::Remove(at) => {
            let options = RemoveOptions { recursive: true, ..RemoveOptions::default() };
            return format!("{:?}", store.remove(caller, at, &options));
        }
        Change::Share(at, rights) => {
            let grant = AccessChange::Grant("user".into(), (*rights).into(), Scope::Subtree);
            return format!("{:?}", store.change_access(caller, at, &[grant]));
        }
    };
    format!("{answer:?}")
}

fn paths() -> impl Strategy<Value = StorePath> {
    let name = prop_oneof![Just("a"), Just("b")].prop_map(Name::trusted);
    vec(name, 0..5).prop_map(StorePath::trusted)
}

/// Ids of the root, of the store itself, and of most that is made.
fn ids() -> impl Strategy<Value = ResourceId> {
    let next = crate::model::FIRST_FREE_ID;
    prop_oneof![0..4u64, next..next + 4, next + 1_000..next + 1_030].prop_map(ResourceId)
}

fn places() -> impl Strategy<Value = At> {
    let child = (ids(), any::<bool>())
        .prop_map(|(id, is_a)| At::Child(id, Name::trusted(if is_a { "a" } else { "b" })));
    prop_oneof![2 => paths().prop_map(At::Path), 2 => ids().prop_map(At::Id), 1 => child]
}

fn changes() -> impl Strategy<Value = Change> {
    let sets = prop_oneof![Just(Rights::NONE), Just(Rights::READ_OBJECT), Just(Rights::OWN)];
    prop_oneof![
        4 => (paths(), any::<bool>()).prop_map(|(path, parents)| Change::Make(path, parents)),
        1 => paths().prop_map(Change::Put),
        2 => (paths(), paths()).prop_map(|(from, to)| Change::Move(from, to)),
        1 => places().prop_map(Change::Remove),
        1 => (places(), sets).prop_map(|(at, rights)| Change::Share(at, rights)),
    ]
}

/// Hints of any kind: that a child is another one, that it is elsewhere, that something is in itself.
type Poison = Vec<(ResourceId, bool, ResourceId)>;

fn poison(store: &Store, hints: &Poison) {
    for (one, is_a, other) in hints {
        let name = Name::trusted(if *is_a { "a" } else { "b" });
        store.inner.edges.remember(*one, &name, *other);
        store.inner.edges.remember_parent(*one, *other);
    }
}

/// The names and ids on the way to a resource, read one edge at a time without any hint.
fn walked(reads: &impl Reads, at: &At) -> Option<(ResourceId, StorePath)> {
    let resource = |id| reads.get::<crate::Resource>(&keys::resource(id)).unwrap();
    let mut id = match at {
        At::Id(id) => *id,
        At::Child(id, name) => reads.get::<Child>(&keys::child(*id, name.as_str())).unwrap()?.id,
        At::Path(path) => path.names().iter().try_fold(ResourceId::ROOT, |id, name| {
            reads.get::<Child>(&keys::child(id, name.as_str())).unwrap().map(|child| child.id)
        })?,
    };
    let (found, mut names) = (id, Vec::new());
    while id != ResourceId::ROOT {
        let resource = resource(id)?;
        names.push(Name::trusted(resource.name));
        id = resource.parent;
    }
    names.reverse();
    Some((found, StorePath::trusted(names)))
}

/// Every path of up to three names, and every id that may be in use.
fn everywhere() -> Vec<At> {
    let names = ["", "a", "b"];
    let paths = (0..27).map(|n| {
        let names = [n / 9, n / 3 % 3, n % 3].map(|n| names[n]).join("/");
        let path = format!(
            "/{}",
            names.split('/').filter(|s| !s.is_empty()).collect::<Vec<_>>().join("/")
        );
        At::Path(path.parse().unwrap())
    });
    let next = crate::model::FIRST_FREE_ID;
    let ids = (0..4).chain(next..next + 4).chain(next + 1_000..next + 1_030);
    paths.chain(ids.map(|id| At::Id(ResourceId(id)))).collect()
}

fn cases() -> Config {
    let cases = std::env::var_os("PROPTEST_CASES").is_none().then_some(12);
    cases.map_or_else(Config::default, |cases| Config { cases, ..Config::default() })
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn wrong_hints_change_no_result_and_no_row(
        history in vec((changes(), any::<bool>(), vec((ids(), any::<bool>(), ids()), 0..40)), 1..25)
    ) {
        let ((poisoned, engine), (plain, other)) = (store(), store());
        for (what, by_user, hints) in history {
            let name = if by_user { "user" } else { "root" };
            poison(&poisoned, &hints);
            let answers = [&poisoned, &plain].map(|store| change(store, &caller(store, name), &what));
            prop_assert_eq!(&answers[0], &answers[1]);
            prop_assert!(rows(&engine) == rows(&other), "other rows after {:?}", what);
            poison(&poisoned, &hints);
            // Another server over the same catalog, which has no hints yet.
            let fresh = Store::open_existing(parts(other.clone())).unwrap();
            let view = poisoned.view().unwrap();
            let callers = [&poisoned, &fresh].map(|store| (store, caller(store, name)));
            for at in everywhere() {
                let found = locate(&view, &at).unwrap().map(|chain| (chain.id(), chain.path()));
                prop_assert_eq!(found, walked(&view, &at));
                let stat = |(store, caller): &(&Store, Caller)| format!("{:?}", store.stat(caller, &at));
                let [one, two] = callers.each_ref().map(stat);
                prop_assert_eq!(one, two);
            }
        }
    }
}

/// What another server moved, removed and made in its place, after this one remembers the way.
#[test]
fn changes_by_another_server_are_visible_immediately() {
    let (one, engine) = store();
    let other = Store::open_existing(parts(engine)).unwrap();
    let root = caller(&one, "root");
    let path = |text: &str| text.parse::<StorePath>().unwrap();
    let make = |store: &Store, to: &str| {
        let options = CreateOptions { parents: true, ..CreateOptions::default() };
        store.create(&root, &path(to), Draft::Collection, options).unwrap().id
    };
    let id = make(&one, "/a/b/c");
    let seen = |at: &str| one.stat(&root, &path(at).into()).map(|stat| stat.id).ok();
    assert_eq!(seen("/a/b/c"), Some(id));
    other.relocate(&root, &path("/a/b").into(), &path("/moved"), MoveOptions::default()).unwrap();
    assert_eq!((seen("/a/b/c"), seen("/moved/c")), (None, Some(id)));
    assert_eq!(one.stat(&root, &At::Id(id)).unwrap().path, path("/moved/c"));
    let again = make(&other, "/a/b/c");
    assert_eq!(seen("/a/b/c"), Some(again));
    let options = RemoveOptions { recursive: true, ..RemoveOptions::default() };
    other.remove(&root, &path("/a").into(), &options).unwrap();
    assert_eq!(seen("/a/b/c"), None);
    assert!(one.stat(&root, &At::Id(again)).is_err());
}
