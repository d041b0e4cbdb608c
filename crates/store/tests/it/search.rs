//! Search, compared with a full scan.

use std::collections::BTreeMap;
use std::sync::Arc;

use cenote_blob::Place;
use cenote_kv::{FaultyEngine, MemoryEngine};
use cenote_store::{
    AccessChange, At, Avu, Caller, Comparison, Condition, Conditions, CreateOptions, Draft,
    ErrorKind, Graph, Kind, Query, ResourceId, Rights, Scope, SearchCursor, Stat, Statement, Term,
};
use proptest::prelude::*;

use crate::world::{World, any_rights, at, cases, kind, path, world, world_on};

fn query(under: &str) -> Query {
    Query {
        under: at(under),
        conditions: Vec::new(),
        name: None,
        kind: None,
        text: None,
        after: None,
        limit: 1_000,
        effort: Query::EFFORT,
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

/// The result contains what the caller may see, whichever of the two strategies is used.
#[test]
fn both_search_strategies_give_the_same_results() {
    let world = world();
    let user = world.user("u");
    world.mkdir("/closed");
    world.put("/closed/shown", b"");
    world.describe("/closed/shown", "k", "v");
    let grant = [AccessChange::Grant("u".into(), Rights::READ_OBJECT.into(), Scope::This)];
    world.store.change_access(&world.admin, &at("/closed/shown"), &grant).unwrap();
    let has = Query { conditions: vec![condition("k", Comparison::Exists, "")], ..query("/") };
    assert_eq!(found(&world, &user, &has), ["/closed/shown"]);
    assert_eq!(found(&world, &user, &query("/")), ["/closed/shown"]);
    let grant = [AccessChange::Grant("anonymous".into(), Rights::READ_OBJECT.into(), Scope::This)];
    world.store.change_access(&world.admin, &at("/"), &grant).unwrap();
    assert!(found(&world, &world.store.anonymous().unwrap(), &has).is_empty());
}

#[test]
fn a_move_and_a_removal_do_not_update_the_index() {
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

/// A date or a moment with an offset.
fn moment(text: &str) -> Option<jiff::Timestamp> {
    text.parse().or_else(|_| format!("{text}T00:00:00Z").parse()).ok()
}

fn holds(comparison: Comparison, have: &str, want: &str) -> bool {
    let numbers = have.parse::<f64>().ok().zip(want.parse::<f64>().ok());
    let moments = moment(have).zip(moment(want));
    let order = match (numbers, moments) {
        (Some((have, want)), _) => have.partial_cmp(&want).unwrap(),
        (_, Some((have, want))) => have.cmp(&want),
        _ => have.cmp(want),
    };
    match comparison {
        Comparison::Exists => true,
        Comparison::Equal => have == want,
        Comparison::NotEqual => have != want,
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
        Comparison::Like => {
            let mut pattern = String::new();
            let mut chars = want.chars();
            while let Some(c) = chars.next() {
                pattern += &match c {
                    '%' => ".*".to_owned(),
                    '_' => ".".to_owned(),
                    '\\' => regex::escape(&chars.next().unwrap_or(c).to_string()),
                    c => c.to_string(),
                };
            }
            regex::Regex::new(&format!("^{pattern}$")).unwrap().is_match(have)
        }
    }
}

/// All pages of a search, each of which is small enough; fails on duplicates.
fn pages(world: &World, caller: &Caller, query: &Query) -> BTreeMap<ResourceId, Stat> {
    let (mut query, mut found) = (query.clone(), BTreeMap::new());
    loop {
        let page = world.store.search(caller, &query).unwrap();
        assert!(page.items.len() <= query.limit);
        for stat in page.items {
            assert_eq!(found.insert(stat.id, stat), None, "given twice");
        }
        let Some(next) = page.next else { return found };
        assert_ne!(query.after.replace(next.clone()), Some(next), "the search goes on");
    }
}

/// The result of a full scan for a caller.
fn looked_up(world: &World, caller: &Caller, query: &Query) -> BTreeMap<ResourceId, Stat> {
    let name = query.name.as_ref().map(|name| {
        let pattern = name.replace('*', ".*").replace('?', ".");
        regex::Regex::new(&format!("^{pattern}$")).unwrap()
    });
    let matches = |stat: &Stat| {
        let avus = world.store.avus(&world.admin, &At::Id(stat.id)).unwrap();
        let holds = |c: &Condition| {
            let of = |avu: &&Avu| {
                avu.attribute == c.attribute
                    && c.unit.as_ref().is_none_or(|u| avu.unit.as_ref() == Some(u))
            };
            avus.iter().filter(of).any(|avu| holds(c.comparison, &avu.value, &c.value))
        };
        query.conditions.iter().all(holds)
            && name.as_ref().is_none_or(|name| name.is_match(&stat.resource.name))
            && query.kind.is_none_or(|kind| kind == stat.resource.kind)
            && world.store.stat(caller, &At::Id(stat.id)).is_ok()
    };
    let all = world.store.walk(&world.admin, &query.under, None, 1_000).unwrap().entries;
    all.into_iter().filter(|stat| matches(stat)).map(|stat| (stat.id, stat)).collect()
}

/// A tree with private homes, from which some resources are shared; attributes in several spellings.
fn plant(objects: &Planted, grants: &[(usize, usize, Rights)]) -> (World, Caller) {
    let world = world();
    let user = world.user("u");
    let folder = CreateOptions { parents: true, exist_ok: true, ..CreateOptions::default() };
    for home in ["/home/a/x", "/home/b/x", "/open/x"] {
        world.store.create(&world.admin, &path(home), Draft::Collection, folder).unwrap();
    }
    let open = [AccessChange::Grant("public".into(), Rights::READ_OBJECT.into(), Scope::Subtree)];
    world.store.change_access(&world.admin, &at("/open"), &open).unwrap();
    let root = [AccessChange::Grant("public".into(), Rights::READ_OBJECT.into(), Scope::This)];
    world.store.change_access(&world.admin, &at("/"), &root).unwrap();
    for (to, statements) in objects {
        world.put(to, b"");
        let state = |(predicate, value): &(String, String)| Statement {
            subject: None,
            predicate: predicate.clone(),
            object: Term::string(value),
            unit: None,
        };
        let graph: Graph = statements.iter().map(state).collect();
        let put = |_: &Graph| Ok(graph.clone());
        world.store.change_graph(&world.admin, &at(to), &Conditions::default(), put).unwrap();
    }
    let paths: Vec<String> = ["/home", "/home/a", "/home/a/x"]
        .map(str::to_owned)
        .into_iter()
        .chain(objects.keys().cloned())
        .collect();
    let scopes = [Scope::This, Scope::This, Scope::Default, Scope::Subtree];
    for (what, scope, rights) in grants {
        let grant = AccessChange::Grant("u".into(), (*rights).into(), scopes[scope % 4]);
        world.store.change_access(&world.admin, &at(&paths[what % paths.len()]), &[grant]).unwrap();
    }
    (world, user)
}

type Planted = BTreeMap<String, Vec<(String, String)>>;

/// Names of attributes, and predicates that are shown as them.
const PREDICATES: &str = "x|y|ftp://h/%41|cenote:attribute/(x|y|%78|ftp://h/%2541)";
const ATTRIBUTES: &str = "x|y|ftp://h/%41|cenote:attribute/%78";

/// Values that are numbers, moments and text.
const VALUES: &str = "[0-9a]{0,2}|-?[0-9]e[0-9]|2020-01-0[1-3](T0[0-2]:00:00(Z|[-+]01:00))?";
const WANTED: &str = r"[0-9a%\\]{0,2}|-?[0-9]e[0-9]|2020-01-0[1-3](T0[0-2]:00:00(Z|[-+]01:00))?";

fn objects() -> impl Strategy<Value = Planted> {
    let statements = proptest::collection::vec((PREDICATES, VALUES), 0..4);
    proptest::collection::btree_map("/(home/a|home/b|open)(/x)?/[a-d]", statements, 0..16)
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn a_search_agrees_with_a_full_scan(
        objects in objects(),
        grants in proptest::collection::vec((any::<usize>(), any::<usize>(), any_rights()), 0..6),
        under in "/|/home|/home/[ab]|/open(/x)?",
        conditions in proptest::collection::vec((ATTRIBUTES, 0usize..8, WANTED), 0..3),
        name in proptest::option::of("[a-d*?]{1,2}"),
        object in any::<bool>(),
        (limit, effort) in (1usize..5, prop_oneof![1usize..12, Just(Query::EFFORT)]),
    ) {
        let (world, user) = plant(&objects, &grants);
        let conditions: Vec<Condition> =
            conditions.iter().map(|(a, c, v)| condition(a, COMPARISONS[*c], v)).collect();
        let kind_wanted = object.then_some(Kind::Object);
        let query = Query { conditions, name, kind: kind_wanted, limit, effort, ..query(&under) };
        prop_assert_eq!(pages(&world, &world.admin, &query), looked_up(&world, &world.admin, &query));
        match world.store.stat(&user, &query.under) {
            Ok(_) => prop_assert_eq!(pages(&world, &user, &query), looked_up(&world, &user, &query)),
            Err(refused) => prop_assert_eq!(kind(world.store.search(&user, &query)), refused.kind()),
        }
    }
}

/// A page examines no more than its limit, whatever is below the searched collection and however little of
/// it matches.
#[test]
fn the_cost_of_a_page_is_limited() {
    let engine = FaultyEngine::new(Arc::new(MemoryEngine::new()));
    let world = world_on(engine.clone(), Place::memory("main"));
    for n in 0..600 {
        world.put(&format!("/{n}"), b"");
        world.describe(&format!("/{n}"), "n", &n.to_string());
    }
    let rare = condition("n", Comparison::Like, "%99");
    for (conditions, name) in [(vec![rare], None), (vec![], Some("*99")), (vec![], None)] {
        let query =
            Query { conditions, name: name.map(Into::into), limit: 10, effort: 50, ..query("/") };
        let (mut after, mut pages, mut items) = (None, 0, 0);
        loop {
            let before = engine.steps();
            let page = world.store.search(&world.admin, &Query { after, ..query.clone() }).unwrap();
            let cost = engine.steps() - before;
            assert!(cost < 50 * 8, "{cost} reads for a page of {query:?}");
            (pages, items, after) = (pages + 1, items + page.items.len(), page.next);
            if after.is_none() {
                break;
            }
        }
        assert!(
            pages > 10
                && items == if name.is_none() && query.conditions.is_empty() { 600 } else { 6 }
        );
    }
}

#[test]
fn a_cursor_of_another_search_is_refused() {
    let world = world();
    for name in ["/a", "/b", "/c"] {
        world.put(name, b"");
        world.describe(name, "k", name);
        world.describe(name, "l", "v");
    }
    let has = |attribute: &str, after| Query {
        conditions: vec![condition(attribute, Comparison::Exists, "")],
        limit: 1,
        after,
        ..query("/")
    };
    let next = world.store.search(&world.admin, &has("k", None)).unwrap().next;
    assert!(world.store.search(&world.admin, &has("k", next.clone())).is_ok());
    assert_eq!(kind(world.store.search(&world.admin, &has("l", next))), ErrorKind::Invalid);
    for bytes in [&b""[..], b"x", b"t", b"t../a", b"t\xff"] {
        assert_eq!(kind(SearchCursor::from_bytes(bytes)), ErrorKind::Invalid);
    }
}
