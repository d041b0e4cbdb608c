//! Search, against looking at everything.

use std::collections::BTreeMap;

use cenote_store::{
    AccessChange, At, Caller, Comparison, Condition, CreateOptions, Draft, ErrorKind, Kind, Level,
    PutOptions, Query, Scope, Stat,
};
use proptest::prelude::*;

use crate::world::{World, at, cases, kind, path, world};

fn query(under: &str) -> Query {
    Query {
        under: at(under),
        conditions: Vec::new(),
        name: None,
        kind: None,
        after: None,
        limit: 1_000,
    }
}

fn condition(attribute: &str, comparison: Comparison, value: &str) -> Condition {
    Condition { attribute: attribute.into(), comparison, value: value.into(), unit: None }
}

fn found(world: &World, caller: &Caller, query: &Query) -> Vec<String> {
    let page = world.store.search(caller, query).unwrap();
    let mut paths: Vec<_> = page.items.iter().map(|stat| stat.path.to_string()).collect();
    paths.sort();
    paths
}

#[test]
fn finds_by_attribute_name_and_kind_below_a_path() {
    let world = world();
    for name in ["/in", "/out"] {
        world.mkdir(name);
        world.put(&format!("{name}/a.txt"), b"");
        world.describe(&format!("{name}/a.txt"), "colour", "red");
    }
    let all = |query: &Query| found(&world, &world.admin, query);
    let red = condition("colour", Comparison::Equal, "red");
    assert_eq!(all(&Query { conditions: vec![red.clone()], ..query("/in") }), ["/in/a.txt"]);
    assert_eq!(all(&Query { name: Some("*.txt".into()), ..query("/out") }), ["/out/a.txt"]);
    assert_eq!(all(&Query { kind: Some(Kind::Collection), ..query("/") }), ["/in", "/out"]);
    let blue = condition("colour", Comparison::Equal, "blue");
    assert!(all(&Query { conditions: vec![red, blue], ..query("/") }).is_empty());
    let wrong = Query { name: Some("[".into()), ..query("/") };
    assert_eq!(kind(world.store.search(&world.admin, &wrong)), ErrorKind::Invalid);
}

#[test]
fn a_unit_narrows_a_condition() {
    use cenote_store::{Avu, AvuChange, Conditions};
    let world = world();
    world.put("/a", b"");
    let mass = Avu { attribute: "m".into(), value: "1".into(), unit: Some("kg".into()) };
    let change = [AvuChange::Add(mass)];
    world.store.change_avus(&world.admin, &at("/a"), &change, &Conditions::default()).unwrap();
    for (unit, hits) in [(None, 1), (Some("kg"), 1), (Some("g"), 0)] {
        let condition =
            Condition { unit: unit.map(Into::into), ..condition("m", Comparison::Exists, "") };
        let query = Query { conditions: vec![condition], ..query("/") };
        assert_eq!(found(&world, &world.admin, &query).len(), hits);
    }
}

#[test]
fn the_collection_searched_is_not_found() {
    let world = world();
    world.describe("/", "k", "v");
    world.mkdir("/a");
    world.describe("/a", "k", "v");
    let has =
        |under| Query { conditions: vec![condition("k", Comparison::Exists, "")], ..query(under) };
    assert_eq!(found(&world, &world.admin, &has("/")), ["/a"]);
    assert!(found(&world, &world.admin, &has("/a")).is_empty());
}

/// The answer is what the asker may see, whichever of the two walks gives it.
#[test]
fn both_ways_to_the_answer_see_the_same() {
    let world = world();
    let user = world.user("u");
    world.mkdir("/closed");
    world.put("/closed/shown", b"");
    world.describe("/closed/shown", "k", "v");
    let grant = [AccessChange::Grant("u".into(), Level::ReadObject, Scope::This)];
    world.store.change_access(&world.admin, &at("/closed/shown"), &grant).unwrap();
    let has = Query { conditions: vec![condition("k", Comparison::Exists, "")], ..query("/") };
    assert_eq!(found(&world, &user, &has), ["/closed/shown"]);
    assert_eq!(found(&world, &user, &query("/")), ["/closed/shown"]);
    let grant = [AccessChange::Grant("anonymous".into(), Level::ReadObject, Scope::This)];
    world.store.change_access(&world.admin, &at("/"), &grant).unwrap();
    assert!(found(&world, &world.store.anonymous().unwrap(), &has).is_empty());
}

#[test]
fn a_move_and_a_removal_need_no_index() {
    let world = world();
    world.mkdir("/a");
    world.put("/a/x", b"");
    world.describe("/a/x", "k", "v");
    let has =
        |under| Query { conditions: vec![condition("k", Comparison::Equal, "v")], ..query(under) };
    world.mv("/a", "/b").unwrap();
    assert_eq!(found(&world, &world.admin, &has("/b")), ["/b/x"]);
    world.rm_all("/b").unwrap();
    assert!(found(&world, &world.admin, &has("/")).is_empty());
}

const COMPARISONS: [Comparison; 8] = [
    Comparison::Exists,
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::LessOrEqual,
    Comparison::Greater,
    Comparison::GreaterOrEqual,
    Comparison::Like,
];

fn holds(comparison: Comparison, have: &str, want: &str) -> bool {
    let numbers = have.parse::<f64>().ok().zip(want.parse::<f64>().ok());
    let order = numbers.map_or(have.cmp(want), |(have, want)| have.total_cmp(&want));
    match comparison {
        Comparison::Exists => true,
        Comparison::Equal => have == want,
        Comparison::NotEqual => have != want,
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
        Comparison::Like => {
            let pattern = format!("^{}$", want.replace('%', ".*").replace('_', "."));
            regex::Regex::new(&pattern).unwrap().is_match(have)
        }
    }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn search_is_looking_at_everything(
        objects in proptest::collection::btree_map("/[ab]/[ab]/[a-d]", proptest::collection::vec(("[xy]", "[0-9a]{0,2}"), 0..3), 0..20),
        under in "/|/[ab]|/[ab]/[ab]",
        conditions in proptest::collection::vec(("[xy]", 0usize..8, "[0-9a%]{0,2}"), 0..3),
        name in proptest::option::of("[a-d*?]{1,2}"),
        limit in 1usize..5,
    ) {
        let world = world();
        let parents = PutOptions { parents: true, ..PutOptions::default() };
        let folder = CreateOptions { parents: true, exist_ok: true, ..CreateOptions::default() };
        world.store.create(&world.admin, &path("/a/a"), Draft::Collection, folder).unwrap();
        for (to, attributes) in &objects {
            world.try_put(&world.admin, to, b"", parents.clone()).unwrap();
            attributes.iter().for_each(|(k, v)| drop(world.describe(to, k, v)));
        }
        let conditions: Vec<Condition> =
            conditions.iter().map(|(a, c, v)| condition(a, COMPARISONS[*c], v)).collect();
        let mut query = Query { conditions, name, limit, ..query(&under) };
        if world.stat(&under).is_err() {
            prop_assert_eq!(kind(world.store.search(&world.admin, &query)), ErrorKind::NotFound);
            return Ok(());
        }
        let mut pages: Vec<Stat> = Vec::new();
        loop {
            let page = world.store.search(&world.admin, &query).unwrap();
            prop_assert!(page.items.len() <= limit);
            pages.extend(page.items);
            query.after = page.next;
            if page.next.is_none() { break }
        }
        let glob = query.name.as_ref().map(|name| {
            let pattern = name.replace('*', ".*").replace('?', ".");
            regex::Regex::new(&format!("^{pattern}$")).unwrap()
        });
        let mut expected = BTreeMap::new();
        for stat in world.store.walk(&world.admin, &at(&under), None, 1_000).unwrap().entries {
            let avus = world.store.avus(&world.admin, &At::Id(stat.id)).unwrap();
            let matches = query.conditions.iter().all(|c| {
                avus.iter().any(|avu| avu.attribute == c.attribute && holds(c.comparison, &avu.value, &c.value))
            });
            if matches && glob.as_ref().is_none_or(|glob| glob.is_match(&stat.resource.name)) {
                expected.insert(stat.id, stat);
            }
        }
        prop_assert_eq!(pages, expected.into_values().collect::<Vec<_>>());
    }
}
