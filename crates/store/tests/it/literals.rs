//! Literals that are looked for without a predicate, for which the index has no order of its own; and entries of the index that several
//! statements of a description share.

use std::collections::BTreeSet;
use std::sync::Arc;

use cenote_blob::Place;
use cenote_kv::{CountingEngine, MemoryEngine};
use cenote_store::{Avu, AvuChange, Conditions, Graph, Pattern, Statement, Term};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::changesets::{begun, commit};
use crate::statements::{found, looked_up};
use crate::world::{World, assert_clean, at, avu, cases, world, world_on};

/// Texts of each class, some with equal keys, and one that is an IRI, too.
const TEXTS: [&str; 8] =
    ["1", "01", "1.0", "x", "y", "2020-01-01", "2020-01-01T00:00Z", "http://x"];

const PATHS: [&str; 4] = ["/a", "/b", "/c", "/c/x"];

fn predicate(n: usize) -> String {
    format!("http://p/{n}")
}

fn stated(n: usize, object: Term) -> Statement {
    Statement { subject: None, predicate: predicate(n), object, unit: None }
}

fn any_object(predicate: Option<usize>, object: Term) -> Pattern {
    Pattern {
        predicate: predicate.map(self::predicate),
        object: Some(object),
        ..Pattern::default()
    }
}

fn term() -> impl Strategy<Value = Term> {
    let text = || select(&TEXTS[..]).prop_map(str::to_owned);
    prop_oneof![
        6 => text().prop_map(|text| Term::string(&text)),
        1 => text().prop_map(|value| Term::Literal { value, datatype: None, language: Some("en".into()) }),
        1 => text().prop_map(Term::Iri),
        1 => text().prop_map(Term::Blank),
    ]
}

/// Of many predicates, about the resource, a part of it, or something else.
fn statement() -> impl Strategy<Value = Statement> {
    let subject = select(vec![None, None, Some("#p"), Some("http://s"), Some("_:b")]);
    (subject, 0usize..60, term()).prop_map(|(subject, n, object)| Statement {
        subject: subject.map(str::to_owned),
        ..stated(n, object)
    })
}

#[derive(Debug, Clone)]
enum Op {
    State(&'static str, Vec<Statement>),
    Retract(&'static str, usize),
    Remove(&'static str),
}

fn op() -> impl Strategy<Value = Op> {
    let paths = || select(&PATHS[..]);
    prop_oneof![
        6 => (paths(), vec(statement(), 1..8)).prop_map(|(to, graph)| Op::State(to, graph)),
        3 => (paths(), 1usize..4).prop_map(|(from, n)| Op::Retract(from, n)),
        1 => paths().prop_map(Op::Remove),
    ]
}

/// A missing resource is created before it is described.
fn apply(world: &World, op: &Op) {
    let change = |of: &str, change: &dyn Fn(&Graph) -> Graph| {
        let change = |old: &Graph| Ok(change(old));
        drop(world.store.change_graph(&world.admin, &at(of), &Conditions::default(), change));
    };
    match op {
        Op::State(to, statements) => {
            if world.stat(to).is_err() {
                planted(world, to);
            }
            change(to, &|old| old.iter().chain(statements).cloned().collect());
        }
        Op::Retract(from, n) => change(from, &|old| old.iter().skip(*n).cloned().collect()),
        Op::Remove(what) => drop(world.rm_all(what)),
    }
}

fn planted(world: &World, what: &str) {
    match what {
        "/c" => drop(world.mkdir("/c")),
        "/c/x" if world.stat("/c").is_err() => {
            world.mkdir("/c");
            world.put("/c/x", b"");
        }
        _ => drop(world.put(what, b"")),
    }
}

/// Everything that the index finds is what a scan of all descriptions finds, and a superset of what attributes show.
fn assert_found(world: &World) {
    for text in TEXTS {
        for object in [Term::string(text), Term::Iri(text.into()), Term::Blank(text.into())] {
            let pattern = any_object(None, object);
            let (found, expected) =
                (found(world, &world.admin, &pattern), looked_up(world, &world.admin, &pattern));
            assert_eq!(found, expected, "{pattern:?}");
        }
        let ids = world.store.reading(&world.admin).unwrap().stating(None, Some(text), 10_000);
        let ids = ids.unwrap().unwrap();
        for of in PATHS {
            let Ok(stat) = world.stat(of) else { continue };
            let avus = world.store.avus(&world.admin, &at(of)).unwrap();
            let is_shown = avus.iter().any(|avu| avu.value == text);
            assert!(!is_shown || ids.contains(&stat.id.0), "{text} of {of}");
        }
    }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn literals_without_a_predicate_are_found_as_by_a_full_scan(
        ops in vec(op(), 1..16),
        in_set in vec(op(), 1..12),
    ) {
        let world = world();
        ops.iter().for_each(|op| apply(&world, op));
        assert_found(&world);
        let (set, id) = begun(&world);
        in_set.iter().for_each(|op| apply(&set, op));
        assert_found(&set);
        assert_found(&world);
        commit(&world, id).unwrap();
        assert_found(&world);
        assert_clean(&world.store);
    }
}

/// More of one predicate than are read at a time, with others before and after them.
#[test]
fn a_literal_of_many_descriptions_is_found_in_all_of_them() {
    let world = world();
    let mut expected = BTreeSet::new();
    for n in 0..600 {
        let id = world.put(&format!("/{n}"), b"").id;
        let graph = (0..5).map(|of| stated(of, Term::string(format!("{n} {of}"))));
        let sought = stated(n % 3, Term::string("sought"));
        world.state(&format!("/{n}"), &graph.chain([sought]).collect::<Vec<_>>());
        expected.insert(id.0);
    }
    let quads = found(&world, &world.admin, &any_object(None, Term::string("sought")));
    assert_eq!(quads.iter().map(|quad| quad.of.0).collect::<BTreeSet<_>>(), expected);
    let reading = world.store.reading(&world.admin).unwrap();
    assert_eq!(reading.stating(None, Some("sought"), 600).unwrap(), Some(expected));
    assert_eq!(reading.stating(None, Some("sought"), 599).unwrap(), None, "more than asked for");
}

/// Over a network each of these is a round trip.
#[test]
fn a_literal_without_a_predicate_costs_reads_by_the_predicates_not_by_the_resources() {
    let engine = CountingEngine::new(Arc::new(MemoryEngine::new()));
    let world = world_on(engine.clone(), Place::memory("main"));
    let pattern = any_object(None, Term::string("nothing"));
    let mut costs = Vec::new();
    for resources in [40, 400] {
        for n in 0..resources {
            let to = format!("/{resources}-{n}");
            world.put(&to, b"");
            let graph = (0..10).map(|of| stated(of, Term::string(format!("{n} {of}"))));
            world.state(&to, &graph.collect::<Vec<_>>());
        }
        let reading = world.store.reading(&world.admin).unwrap();
        costs.push(engine.cost(|| assert_eq!(reading.statements(&pattern).unwrap().count(), 0)));
    }
    assert!(costs.iter().all(|cost| cost.scans <= 2 * 10 + 2), "{costs:?}");
}

#[test]
fn the_order_by_object_has_each_iri_of_a_description_once_and_no_literals() {
    let world = world();
    world.put("/a", b"");
    world.put("/to", b"");
    let iri = |iri: &str| Term::Iri(iri.into());
    let indexed = |graph: &[Statement]| {
        let put = |_: &Graph| Ok(graph.iter().cloned().collect());
        world.store.change_graph(&world.admin, &at("/a"), &Conditions::default(), put).unwrap();
        [b'I', b'i'].map(|table| world.table(table).len())
    };
    let twice = |object: Term| [stated(1, object.clone()), stated(2, object)];
    assert_eq!(indexed(&twice(Term::string("x"))), [2, 0]);
    assert_eq!(indexed(&twice(Term::Blank("b".into()))), [2, 0]);
    assert_eq!(indexed(&twice(iri("http://x"))), [2, 1]);
    assert_eq!(indexed(&twice(iri("cenote:/to"))), [2, 2], "by the resource and by the path");
    assert_eq!(indexed(&twice(iri("http://x"))[..1]), [1, 1]);
}

/// A description that is spread, of which a change of some attributes reads a part.
fn spread(statements: &[Statement]) -> World {
    let world = world();
    world.put("/a", b"");
    world.put("/to", b"");
    let ballast = (0..100).map(|n| stated(1_000 + n, Term::string("x".repeat(400))));
    world.state("/a", &ballast.chain(statements.iter().cloned()).collect::<Vec<_>>());
    assert!(!world.table(b'Q').is_empty());
    world
}

/// One of two statements that share an entry of the index is removed as an attribute.
fn assert_other_stays(gone: Statement, stays: Statement) {
    let world = spread(&[gone.clone(), stays.clone()]);
    let shown = [AvuChange::Remove(Avu::of(&gone))];
    world.store.change_avus(&world.admin, &at("/a"), &shown, &Conditions::default()).unwrap();
    assert_clean(&world.store);
    let pattern = any_object(None, stays.object.clone());
    assert_eq!(found(&world, &world.admin, &pattern).len(), 1, "{stays:?} without {gone:?}");
}

#[test]
fn an_attribute_that_is_removed_leaves_the_entries_of_others_in_the_index() {
    let iri = |iri: &str| Term::Iri(iri.into());
    let text = |text: &str| Term::string(text);
    assert_other_stays(stated(1, text("1")), stated(1, text("1.0")));
    assert_other_stays(stated(1, text("2020-01-01")), stated(1, text("2020-01-01T00:00Z")));
    assert_other_stays(stated(1, iri("http://x")), stated(2, iri("http://x")));
    assert_other_stays(stated(1, iri("cenote:/to")), stated(2, iri("cenote:/to")));
    assert_other_stays(stated(1, iri("cenote:/missing")), stated(2, iri("cenote:/missing")));
    let about = |subject: &str, it| Statement { subject: Some(subject.into()), ..it };
    let part = about("#part", stated(1, iri("cenote:/to")));
    assert_other_stays(stated(1, iri("cenote:/to")), part);
}

#[test]
fn a_changed_attribute_of_a_large_description_leaves_no_entries_behind() {
    let world = spread(&[stated(1, Term::string("1")), stated(1, Term::Iri("http://x".into()))]);
    let attribute = predicate(1);
    for change in [AvuChange::Set(avu(&attribute, "2")), AvuChange::Clear(attribute)] {
        let changes = [change];
        world.store.change_avus(&world.admin, &at("/a"), &changes, &Conditions::default()).unwrap();
        assert_clean(&world.store);
    }
}
