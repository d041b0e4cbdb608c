//! Every plan of a query yields the same as examining everything: random catalogs with private homes, shared
//! resources and several attributes, random queries, and an evaluator that knows nothing of plans.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod reference;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use cenote_blob::Place;
use cenote_kv::MemoryEngine;
use cenote_query::genquery::{Limits, Options, Zone, genquery1, genquery2};
use cenote_store::{
    AccessChange, At, Avu, AvuChange, Caller, Conditions, CreateOptions, Draft, Expected, NewUser,
    Parts, PutOptions, Received, Rights, Role, Scope, Store, StorePath,
};
use proptest::prelude::*;
use reference::{Comparison, Question, Test, Thing};

const ZONE: &str = "z";
const COLLECTIONS: [&str; 6] = ["/home", "/home/u", "/home/p", "/home/p/s", "/home/p/a_b", "/open"];

/// A fresh store, cached: creating one costs an argon2.
fn fresh() -> Store {
    static FRESH: OnceLock<MemoryEngine> = OnceLock::new();
    let fresh = FRESH.get_or_init(|| {
        let engine = MemoryEngine::new();
        let parts = Parts::new(engine.clone(), Place::memory("main"));
        Store::create_new(parts, "rods", "rods").unwrap();
        engine
    });
    Store::open_existing(Parts::new(fresh.fork(), Place::memory("main"))).unwrap()
}

fn at(path: &str) -> At {
    path.parse::<StorePath>().unwrap().into()
}

/// Attributes by path, for collections and objects.
type Catalog = BTreeMap<String, Vec<Avu>>;
/// What is shared: which resource, with how wide a scope, and with which rights.
type Grants = Vec<(usize, usize, Rights)>;

struct World {
    store: Store,
    admin: Caller,
    user: Caller,
    things: Vec<String>,
}

impl World {
    fn new(catalog: &Catalog, grants: &Grants) -> Self {
        let store = fresh();
        let admin = store.caller_for(store.person_named("rods").unwrap().0).unwrap();
        let user = NewUser { name: "u".into(), password: None, role: Role::User };
        let user = store.add_user(&admin, &user).unwrap();
        let user = store.caller_for(user).unwrap();
        let things = COLLECTIONS.iter().map(ToString::to_string);
        let things: Vec<String> = things
            .chain(catalog.keys().filter(|path| !COLLECTIONS.contains(&path.as_str())).cloned())
            .collect();
        let world = Self { store, admin, user, things };
        world.plant(catalog);
        world.share("/home/u", Rights::OWN, Scope::Subtree);
        world.share("/open", Rights::READ_OBJECT, Scope::Subtree);
        for (thing, scope, rights) in grants {
            let scope = [Scope::This, Scope::This, Scope::Default, Scope::Subtree][scope % 4];
            world.share(&world.things[thing % world.things.len()], *rights, scope);
        }
        world
    }

    fn plant(&self, catalog: &Catalog) {
        for (place, thing) in self.things.iter().enumerate() {
            let path: StorePath = thing.parse().unwrap();
            if place < COLLECTIONS.len() {
                let options = CreateOptions::default();
                self.store.create(&self.admin, &path, Draft::Collection, options).unwrap();
            } else {
                let bytes = Received::inline(&vec![b'x'; place], &Expected::default());
                self.store
                    .publish(&self.admin, &path, &bytes.unwrap(), &PutOptions::default())
                    .unwrap();
            }
            let avus = catalog.get(thing).cloned().unwrap_or_default();
            let changes: Vec<_> = avus.into_iter().map(AvuChange::Add).collect();
            self.store
                .change_avus(&self.admin, &at(thing), &changes, &Conditions::default())
                .unwrap();
        }
    }

    fn share(&self, path: &str, rights: Rights, scope: Scope) {
        let change = AccessChange::Grant("u".into(), rights.into(), scope);
        self.store.change_access(&self.admin, &at(path), &[change]).unwrap();
    }

    /// Everything that exists, as the reference needs it.
    fn everything(&self, caller: &Caller) -> Vec<Thing> {
        let root = self.store.stat(&self.admin, &at("/")).unwrap();
        let below = self.store.walk(&self.admin, &at("/"), None, 10_000).unwrap().entries;
        let thing = |stat: cenote_store::Stat| Thing {
            id: stat.id.0,
            path: stat.path.clone(),
            is_object: stat.resource.content.is_some(),
            size: stat.size(),
            owner: self.store.person_name(stat.resource.owner).unwrap(),
            visible: self.store.stat(caller, &At::Id(stat.id)).is_ok(),
            avus: self.store.avus(&self.admin, &At::Id(stat.id)).unwrap(),
        };
        std::iter::once(root).chain(below).map(thing).collect()
    }
}

fn avu() -> impl Strategy<Value = Avu> {
    let unit = proptest::option::of("[uv]");
    ("a|b|a_b|ftp://h/%41", VALUES, unit).prop_map(|(attribute, value, unit)| Avu {
        attribute,
        value,
        unit,
    })
}

/// Few values, so that conditions match them.
const VALUES: &str = r"1|2|10|1\.0|x|X|a_b|a\\b|é|";

/// A set of rights: those that make a resource visible to queries, and any others.
fn rights() -> impl Strategy<Value = Rights> {
    let one: Vec<Rights> = Rights::ALL.words().map(|word| word.parse().unwrap()).collect();
    let some = proptest::sample::subsequence(one, 0..=11);
    let any = some.prop_map(|rights| rights.into_iter().collect());
    prop_oneof![Just(Rights::READ_METADATA), Just(Rights::READ_OBJECT), any]
}

fn catalog() -> impl Strategy<Value = Catalog> {
    let objects = r"/(home/u|home/p|home/p/s|home/p/a_b|open)/(x|y|a_b|1)";
    let objects =
        proptest::collection::btree_map(objects, proptest::collection::vec(avu(), 0..4), 1..9);
    let collections = proptest::sample::select(&COLLECTIONS[..]).prop_map(str::to_owned);
    let collections =
        proptest::collection::btree_map(collections, proptest::collection::vec(avu(), 0..3), 0..4);
    (objects, collections).prop_map(|(mut all, collections)| {
        all.extend(collections);
        all
    })
}

fn comparison(values: &'static str) -> impl Strategy<Value = Comparison> {
    let operator = prop_oneof![
        6 => Just("="),
        3 => Just("like"),
        1 => Just("in"),
        1 => Just("between"),
        2 => prop_oneof![Just("<>"), Just("<"), Just("<="), Just(">"), Just(">=")],
    ];
    let (negated, numeric) = (prop::bool::weighted(0.15), prop::bool::weighted(0.15));
    (operator, negated, numeric, values, values, any::<bool>()).prop_map(
        |(operator, negated, numeric, first, second, pattern)| {
            let first = if operator == "like" && pattern { format!("{first}%") } else { first };
            let values = match operator {
                "in" | "between" => vec![first, second],
                _ => vec![first],
            };
            Comparison { operator, negated, numeric, values }
        },
    )
}

fn test() -> impl Strategy<Value = Test> {
    const PATHS: &str = r"/z|/z/home|/z/home/[up]|/z/home/p/(s|a_b|a\\_b|_)|/z/open|/z/none|/";
    let column = prop_oneof![
        3 => Just(("COLL_NAME", PATHS)),
        1 => Just(("COLL_PARENT_NAME", PATHS)),
        2 => Just(("DATA_NAME", r"x|y|a_b|a\\_b|1|_")),
        1 => Just(("DATA_SIZE", "6|7|10|8\\.0|x")),
        1 => Just(("COLL_OWNER_NAME", "rods|u")),
        4 => Just(("META_DATA_ATTR_NAME", r"a|b|a_b|a\\_b|ftp://h/%41")),
        4 => Just(("META_DATA_ATTR_VALUE", VALUES)),
        1 => Just(("META_DATA_ATTR_UNITS", "u|v|")),
        2 => Just(("META_COLL_ATTR_NAME", "a|b|a_b")),
        2 => Just(("META_COLL_ATTR_VALUE", VALUES)),
        1 => Just(("META_COLL_ATTR_UNITS", "u|v|")),
    ];
    column.prop_flat_map(|(column, values)| {
        let any = proptest::collection::vec(comparison(values), 1..=2);
        (any, prop::bool::weighted(0.8)).prop_map(move |(mut any, one)| {
            if one {
                any.truncate(1);
            }
            Test { column, any }
        })
    })
}

fn question() -> impl Strategy<Value = Question> {
    let columns = [
        "COLL_NAME",
        "COLL_ID",
        "COLL_PARENT_NAME",
        "COLL_OWNER_NAME",
        "DATA_NAME",
        "DATA_ID",
        "DATA_SIZE",
        "META_DATA_ATTR_NAME",
        "META_DATA_ATTR_VALUE",
        "META_DATA_ATTR_UNITS",
        "META_COLL_ATTR_NAME",
        "META_COLL_ATTR_VALUE",
    ];
    let column = proptest::sample::select(columns.to_vec());
    (
        proptest::collection::vec(column, 1..4),
        proptest::collection::vec(test(), 0..5),
        prop::bool::weighted(0.8),
        any::<bool>(),
    )
        .prop_map(|(outputs, tests, case_sensitive, distinct)| Question {
            outputs,
            tests,
            case_sensitive,
            distinct,
        })
}

/// 192 catalogs and queries; `PROPTEST_CASES` overrides this.
fn cases() -> ProptestConfig {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig::with_cases(192),
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn every_plan_gives_the_result_of_a_full_scan(
        catalog in catalog(),
        grants in proptest::collection::vec((any::<usize>(), any::<usize>(), rights()), 0..6),
        questions in proptest::collection::vec(question(), 12),
    ) {
        let world = World::new(&catalog, &grants);
        let zone = Zone { name: ZONE.into(), ..Zone::default() };
        for caller in [&world.admin, &world.user] {
            let everything = world.everything(caller);
            let reading = world.store.reading(caller).unwrap();
            for question in &questions {
                let options = Options {
                    offset: 0,
                    count: usize::MAX,
                    case_sensitive: question.case_sensitive,
                    distinct: question.distinct,
                };
                let text = question.first();
                let answer = genquery1(&reading, &zone, &text, options, Limits::NONE);
                let answer = answer.unwrap_or_else(|error| panic!("{text}: {error}"));
                prop_assert_eq!(sorted(answer), sorted(question.answer(&everything, false)), "{} {}", caller.name(), text);
                let Some(text) = question.second() else { continue };
                let answer = genquery2(&reading, &zone, &text, usize::MAX, Limits::NONE);
                let answer = answer.unwrap_or_else(|error| panic!("{text}: {error}"));
                prop_assert_eq!(sorted(answer), sorted(question.answer(&everything, true)), "{} {}", caller.name(), text);
            }
        }
    }
}

fn sorted(mut rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    rows.sort();
    rows
}

#[test]
fn resources_shared_from_a_private_home_are_found_by_attribute_name_and_collection() {
    let avus = vec![Avu { attribute: "k".into(), value: "v".into(), unit: None }];
    let catalog = Catalog::from([("/home/p/s/x".to_owned(), avus)]);
    let world = World::new(&catalog, &vec![]);
    world.share("/home/p/s/x", Rights::READ_METADATA, Scope::This);
    let zone = Zone { name: ZONE.into(), ..Zone::default() };
    let reading = world.store.reading(&world.user).unwrap();
    for condition in [
        "META_DATA_ATTR_NAME = 'k' and META_DATA_ATTR_VALUE = 'v'",
        "META_DATA_ATTR_VALUE = 'v'",
        "COLL_NAME = '/z/home/p/s'",
        "COLL_NAME = '/z/home/p/s' and DATA_NAME = 'x'",
        "COLL_NAME like '/z/home/p/%'",
        "DATA_NAME = 'x'",
    ] {
        let query = format!("select COLL_NAME, DATA_NAME where {condition}");
        let options = Options::default();
        let found = genquery1(&reading, &zone, &query, options, Limits::NONE).unwrap();
        assert_eq!(found, [["/z/home/p/s", "x"]], "{query}");
        let owner = format!("select COLL_OWNER_NAME where {condition}");
        let hidden = genquery1(&reading, &zone, &owner, options, Limits::NONE).unwrap();
        assert!(hidden.is_empty(), "only the name of the collection is shown");
    }
}
