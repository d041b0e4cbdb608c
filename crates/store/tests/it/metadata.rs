//! Descriptions: the laws of the attribute view through the store, graphs, and their limits.

use std::collections::BTreeSet;
use std::sync::Arc;

use cenote_blob::Place;
use cenote_kv::{CountingEngine, MemoryEngine};
use cenote_store::{
    AccessChange, Avu, AvuChange, Comparison, Condition, Conditions, ErrorKind, Graph, Query,
    Rights, Scope, Statement, Term,
};
use proptest::prelude::*;

use crate::world::{World, assert_clean, at, avu, cases, kind, world, world_on};

fn change(world: &World, changes: &[AvuChange]) -> cenote_store::Result<cenote_store::Stat> {
    world.store.change_avus(&world.admin, &at("/a"), changes, &Conditions::default())
}

fn shown(world: &World) -> BTreeSet<Avu> {
    world.store.avus(&world.admin, &at("/a")).unwrap().into_iter().collect()
}

fn triple(subject: Option<&str>, predicate: &str, object: Term) -> Statement {
    Statement { subject: subject.map(Into::into), predicate: predicate.into(), object, unit: None }
}

#[test]
fn changes_happen_together_or_not_at_all() {
    let world = world();
    world.put("/a", b"");
    let bad = [AvuChange::Add(avu("good", "1")), AvuChange::Add(avu("", "2"))];
    assert_eq!(kind(change(&world, &bad)), ErrorKind::Invalid);
    assert!(shown(&world).is_empty());
    let good = [
        AvuChange::Add(avu("n", "1")),
        AvuChange::Add(avu("n", "2")),
        AvuChange::Set(avu("m", "3")),
        AvuChange::Remove(avu("n", "1")),
    ];
    change(&world, &good).unwrap();
    assert_eq!(shown(&world), [avu("n", "2"), avu("m", "3")].into());
}

#[test]
fn a_change_without_effect_is_not_recorded() {
    let world = world();
    world.put("/a", b"");
    let first = world.describe("/a", "k", "v");
    assert_eq!(world.describe("/a", "k", "v").state_tag(), first.state_tag());
    let stale = Conditions { if_match: Some("r1.1".into()), ..Conditions::default() };
    let write = world.store.change_avus(&world.admin, &at("/a"), &[], &stale);
    assert_eq!(kind(write), ErrorKind::Precondition);
}

#[test]
fn a_graph_round_trips() {
    let world = world();
    world.put("/a", b"");
    let graph: Graph = [
        triple(None, "http://purl.org/dc/terms/title", Term::string("Run 7")),
        triple(Some("_:b"), "http://x/y", Term::Blank("c".into())),
        triple(Some("http://s"), "http://x/y", Term::Iri("http://o".into())),
        triple(
            None,
            "http://x/n",
            Term::Literal {
                value: "1".into(),
                datatype: Some("http://www.w3.org/2001/XMLSchema#integer".into()),
                language: None,
            },
        ),
    ]
    .into();
    let put = |graph: &Graph| {
        let put = |_: &Graph| Ok(graph.clone());
        world.store.change_graph(&world.admin, &at("/a"), &Conditions::default(), put)
    };
    put(&graph).unwrap();
    assert_eq!(world.store.graph(&world.admin, &at("/a")).unwrap().1, graph);
    change(&world, &[AvuChange::Set(avu("http://purl.org/dc/terms/title", "Run 8"))]).unwrap();
    let now = world.store.graph(&world.admin, &at("/a")).unwrap().1;
    assert_eq!(now.iter().filter(|s| s.subject.is_some()).count(), 2, "what the view hides stays");
    put(&Graph::new()).unwrap();
    assert!(world.table(b'G').is_empty() && world.table(b'I').is_empty());
}

#[test]
fn an_oversized_description_is_refused() {
    let world = world();
    world.put("/a", b"");
    let long = [AvuChange::Add(avu("a", &"x".repeat((1 << 20) + 1)))];
    assert_eq!(kind(change(&world, &long)), ErrorKind::TooLarge);
    assert!(shown(&world).is_empty());
}

#[test]
fn each_change_requires_its_level() {
    let world = world();
    world.put("/a", b"");
    let user = world.user("u");
    let as_user = |change: AvuChange| {
        world.store.change_avus(&user, &at("/a"), &[change], &Conditions::default()).map(drop)
    };
    let grant = |rights: Rights| {
        let change = [AccessChange::Grant("u".into(), rights.into(), Scope::This)];
        world.store.change_access(&world.admin, &at("/a"), &change).unwrap();
    };
    let (add, remove) = (AvuChange::Add(avu("k", "v")), AvuChange::Remove(avu("k", "v")));
    let set = AvuChange::Set(avu("k", "w"));
    assert_eq!(kind(as_user(add.clone())), ErrorKind::NotFound);
    grant(Rights::READ_OBJECT);
    assert_eq!(kind(as_user(add.clone())), ErrorKind::Denied);
    grant(Rights::CREATE_METADATA);
    as_user(add).unwrap();
    assert_eq!(kind(as_user(set.clone())), ErrorKind::Denied);
    grant(Rights::MODIFY_METADATA);
    assert_eq!(kind(as_user(remove)), ErrorKind::Denied);
    as_user(set).unwrap();
    grant(Rights::DELETE_METADATA);
    as_user(AvuChange::Clear("k".into())).unwrap();
    assert!(shown(&world).is_empty());
}

fn avus() -> impl Strategy<Value = Avu> {
    ("[ab]|http://x/[ab]", "[a-c]{0,2}", proptest::option::of("[kg]{0,1}"))
        .prop_map(|(attribute, value, unit)| Avu { attribute, value, unit })
}

/// Some of these make a description large enough to be stored statement by statement.
fn ballast() -> impl Strategy<Value = Avu> {
    (0..3u8).prop_map(|n| avu(&format!("ballast{n}"), &"x".repeat(20_000)))
}

fn changes() -> impl Strategy<Value = AvuChange> {
    prop_oneof![
        ballast().prop_map(AvuChange::Add),
        ballast().prop_map(AvuChange::Remove),
        avus().prop_map(AvuChange::Add),
        avus().prop_map(AvuChange::Remove),
        avus().prop_map(AvuChange::Set),
        "[ab]".prop_map(AvuChange::Clear),
    ]
}

fn apply(model: &mut BTreeSet<Avu>, change: &AvuChange) {
    let normal =
        |avu: &Avu| Avu { unit: avu.unit.clone().filter(|u| !u.is_empty()), ..avu.clone() };
    match change {
        AvuChange::Add(avu) => drop(model.insert(normal(avu))),
        AvuChange::Remove(avu) => drop(model.remove(&normal(avu))),
        AvuChange::Set(avu) => {
            model.retain(|known| known.attribute != avu.attribute);
            model.insert(normal(avu));
        }
        AvuChange::Clear(attribute) => model.retain(|known| known.attribute != *attribute),
        AvuChange::Link(..) => unreachable!("`statements` has links"),
    }
}

/// Names, predicates displayed as names, IRIs of any scheme, percent signs of all kinds, and any text.
fn predicate() -> impl Strategy<Value = String> {
    prop_oneof![
        "a|b c|ftp://h/(%41|A|%)|mailto:x|a:b|http://x/[ab]",
        "(cenote:attribute/){1,2}(a|%61|%FF|b%20c|a:b|http://x/a|\\[0\\])?",
        "[a-z]{1,4}:\\PC{0,4}",
        "\\PC{1,6}",
    ]
}

fn statement() -> impl Strategy<Value = Statement> {
    let object = prop_oneof!["[vw]{1,2}".prop_map(Term::string), "[vw]".prop_map(Term::Iri)];
    let unit = proptest::option::of("[u]{0,1}");
    (predicate(), object, unit).prop_map(|(predicate, object, unit)| Statement {
        subject: None,
        predicate,
        object,
        unit,
    })
}

proptest! {
    #![proptest_config(cases(64))]

    /// Every statement of a graph is shown under some name, and found, changed and removed under that name.
    #[test]
    fn attributes_are_found_changed_and_removed_by_their_displayed_names(
        mut graph in proptest::collection::btree_set(statement(), 1..8),
        which in any::<usize>(),
        spread in any::<bool>(),
    ) {
        let ballast = triple(Some("_:b"), "a", Term::string("x".repeat(40_000)));
        graph.extend(spread.then_some(ballast));
        let world = world();
        let id = world.put("/a", b"").id;
        world.put("/other", b"");
        let put = |_: &Graph| Ok(graph.clone());
        world.store.change_graph(&world.admin, &at("/a"), &Conditions::default(), put).unwrap();
        let all = shown(&world);
        for avu in &all {
            for comparison in [Comparison::Equal, Comparison::Exists] {
                let (attribute, value) = (avu.attribute.clone(), avu.value.clone());
                let condition = Condition { attribute, comparison, value, unit: avu.unit.clone() };
                let query = Query {
                    under: at("/"),
                    conditions: vec![condition],
                    name: None,
                    kind: None,
                    text: None,
                    after: None,
                    limit: 10,
                    effort: Query::EFFORT,
                };
                let found = world.store.search(&world.admin, &query).unwrap().items;
                prop_assert_eq!(found.iter().map(|stat| stat.id).collect::<Vec<_>>(), [id], "{:?}", avu);
            }
            let reading = world.store.reading(&world.admin).unwrap();
            for value in [None, Some(avu.value.as_str())] {
                let stating = reading.stating(Some(&avu.attribute), value, 10).unwrap();
                prop_assert_eq!(stating, Some(BTreeSet::from([id.0])));
            }
        }
        let one = all.iter().nth(which % all.len()).unwrap().clone();
        change(&world, &[AvuChange::Remove(one.clone())]).unwrap();
        let mut expected = all.clone();
        expected.remove(&one);
        prop_assert_eq!(shown(&world), expected.clone());
        let new = Avu { value: "new".into(), ..one.clone() };
        change(&world, &[AvuChange::Set(new.clone())]).unwrap();
        expected.retain(|avu| avu.attribute != one.attribute);
        expected.insert(new);
        prop_assert_eq!(shown(&world), expected.clone());
        change(&world, &[AvuChange::Clear(one.attribute.clone())]).unwrap();
        expected.retain(|avu| avu.attribute != one.attribute);
        prop_assert_eq!(shown(&world), expected);
        assert_clean(&world.store);
    }
}

/// Each kind of small change, on descriptions of increasing size.
#[test]
fn the_reads_and_writes_of_a_change_do_not_depend_on_the_size_of_the_description() {
    let cost = |size: usize| {
        let engine = CountingEngine::new(Arc::new(MemoryEngine::new()));
        let world = world_on(engine.clone(), Place::memory("main"));
        world.put("/a", b"");
        let value = |n: usize| avu(&format!("attribute{}", n % 100), &format!("value number {n}"));
        change(&world, &(0..size).map(|n| AvuChange::Add(value(n))).collect::<Vec<_>>()).unwrap();
        let other = |n: usize| avu("other", &n.to_string());
        let changes = [
            (0..20).map(|n| AvuChange::Add(other(n))).collect(),
            vec![AvuChange::Remove(other(7)), AvuChange::Remove(value(7))],
            vec![AvuChange::Set(other(8))],
            vec![AvuChange::Clear("other".into())],
            vec![AvuChange::Add(value(size - 1))],
        ];
        let cost = changes.map(|some| engine.cost(|| drop(change(&world, &some).unwrap())).bytes);
        assert_eq!(shown(&world).len(), size - 1);
        cost
    };
    for (number, (small, large)) in cost(1_000).into_iter().zip(cost(20_000)).enumerate() {
        assert!(large < small + small / 10, "change {number}: {small} and {large} bytes");
    }
}

/// 40,000 changes of a description of 40,000 statements: examining all statements for each change would take minutes.
#[test]
fn the_cost_of_a_change_is_proportional_to_its_size() {
    let world = world();
    world.put("/a", b"");
    let of = |n: usize| avu(&format!("a{}", n % 10), &n.to_string());
    change(&world, &(0..40_000).map(|n| AvuChange::Add(of(n))).collect::<Vec<_>>()).unwrap();
    let mut changes: Vec<_> = (0..20_000).map(|n| AvuChange::Add(of(n))).collect();
    changes.extend((0..20_000).map(|n| AvuChange::Remove(of(n))));
    change(&world, &changes).unwrap();
    assert_eq!(shown(&world).len(), 20_000);
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn attributes_are_a_set(batches in proptest::collection::vec(proptest::collection::vec(changes(), 0..4), 0..12)) {
        let world = world();
        world.put("/a", b"");
        let mut model = BTreeSet::new();
        for batch in batches {
            batch.iter().for_each(|change| apply(&mut model, change));
            change(&world, &batch).unwrap();
            prop_assert_eq!(shown(&world), model.clone());
        }
        assert_clean(&world.store);
        world.rm("/a").unwrap();
        for table in [b'G', b'Q', b'I'] {
            prop_assert!(world.table(table).is_empty());
        }
    }
}
