//! Answers to SPARQL queries over a store equal those of an evaluator over an in-memory dataset of the same triples: random
//! trees with private parts, descriptions, links and blank nodes, and random queries.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "sparql/generated.rs"]
mod generated;
#[path = "sparql/world.rs"]
mod world;

use std::collections::BTreeSet;
use std::rc::Rc;

use cenote_query::sparql::{Graphs, Limits, query};
use cenote_query::{Error, Stop};
use cenote_rdf::{Answers, Format, Query};
use cenote_store::{At, Statement, Term};
use proptest::prelude::*;

use self::world::{Plain, World};

/// Few cases by default, since each runs several queries as two callers; `PROPTEST_CASES` overrides this.
fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig::with_cases(cases.unwrap_or(24))
}

proptest! {
    #![proptest_config(config())]
    #[test]
    fn results_are_those_of_an_evaluator_in_memory(
        planted in generated::planted(),
        queries in proptest::collection::vec(generated::query(), 1..12),
        parts in any::<bool>(),
    ) {
        let world = World::new(&planted);
        let words = Plain(if parts { Graphs::Parts } else { Graphs::Resources });
        for caller in [&world.admin, &world.user] {
            let oracle = world.oracle(caller, &words);
            for text in &queries {
                let answer = world.ask(caller, &words, text).unwrap();
                prop_assert_eq!(answer, oracle.ask(text), "{}", text);
            }
        }
    }

    /// The oracle is built from the statements that the store returns to the caller for each resource.
    #[test]
    fn each_readable_statement_is_in_its_graph(planted in generated::planted()) {
        let world = World::new(&planted);
        let words = Plain(Graphs::Resources);
        for caller in [&world.admin, &world.user] {
            let mut visible = BTreeSet::new();
            for path in world.paths() {
                let Ok((_, graph)) = world.store.graph(caller, &At::from(&path)) else { continue };
                let iri = cenote_store::iri_of(&path);
                visible.insert(format!("<{iri}>"));
                let graph: BTreeSet<Statement> =
                    graph.into_iter().map(|it| Statement { unit: None, ..it }).collect();
                for statement in &graph {
                    let pattern = world::pattern(&iri, statement);
                    let asked = format!("ASK {{ GRAPH <{iri}> {{ {pattern} }} {pattern} }}");
                    prop_assert!(world.truth(caller, &words, &asked), "{}", asked);
                }
                let own = graph.iter().filter(|it| it.predicate.starts_with("p:"));
                let own: BTreeSet<_> = own.map(|it| world::pattern(&iri, it)).collect();
                let own = own.len();
                let text = format!(
                    "SELECT (COUNT(*) AS ?n) {{ GRAPH <{iri}> {{ ?s ?p ?o FILTER(STRSTARTS(STR(?p), 'p:')) }} }}"
                );
                prop_assert_eq!(world.ask(caller, &words, &text).unwrap()[0].clone(), own.to_string());
            }
            let graphs = world.ask(caller, &words, "SELECT ?g { GRAPH ?g { } }").unwrap();
            prop_assert_eq!(graphs.into_iter().collect::<BTreeSet<_>>(), visible);
        }
    }
}

fn world() -> World {
    World::new(&[])
}

#[test]
fn hidden_resources_are_not_counted() {
    let world = world();
    let words = Plain(Graphs::Resources);
    let count = "SELECT (COUNT(?s) AS ?n) { ?s a <http://www.w3.org/ns/ldp#Resource> }";
    let all = world.ask(&world.admin, &words, count).unwrap();
    let seen = world.ask(&world.user, &words, count).unwrap();
    let visible = world
        .paths()
        .into_iter()
        .filter(|path| world.store.stat(&world.user, &At::from(path)).is_ok());
    assert_eq!(seen, [visible.count().to_string()]);
    assert_eq!(all, [world.paths().len().to_string()]);
    assert_ne!(seen, all);
}

#[test]
fn an_attribute_is_a_triple_and_a_link_follows_its_resource() {
    let world = world();
    let words = Plain(Graphs::Resources);
    let link = Statement {
        subject: None,
        predicate: "p:to".to_owned(),
        object: Term::Iri("cenote:/open/x".to_owned()),
        unit: None,
    };
    world.describe("/open/y", [link]);
    world.describe(
        "/open/x",
        [Statement {
            subject: None,
            predicate: "cenote:attribute/color".to_owned(),
            object: Term::string("red"),
            unit: Some("u".to_owned()),
        }],
    );
    let text = "SELECT ?from { ?from <p:to> ?to . ?to <cenote:attribute/color> 'red' }";
    assert_eq!(world.ask(&world.user, &words, text).unwrap(), ["<cenote:/open/y>"]);
    world.rename("/open/x", "/open/z");
    assert_eq!(world.ask(&world.user, &words, text).unwrap(), ["<cenote:/open/y>"]);
    let to = "SELECT ?to { <cenote:/open/y> <p:to> ?to }";
    assert_eq!(world.ask(&world.user, &words, to).unwrap(), ["<cenote:/open/z>"]);
}

/// There is no index here: words are looked for in everything.
#[test]
fn words_are_found_without_an_index_and_hidden_ones_are_not() {
    let world = world();
    for (path, value) in [("/open/x", "Red box"), ("/home/p/x", "red BOX"), ("/open/d", "a box")] {
        let object = Term::string(value);
        let predicate = "p:note".to_owned();
        world.describe(path, [Statement { subject: None, predicate, object, unit: None }]);
    }
    for graphs in [Graphs::Resources, Graphs::Parts] {
        let words = Plain(graphs);
        let ask = |caller, object: &str| {
            let text = format!("SELECT ?s {{ ?s <http://jena.apache.org/text#query> {object} }}");
            world.ask(caller, &words, &text).unwrap()
        };
        let (x, d) = ("<cenote:/open/x>", "<cenote:/open/d>");
        let hidden = "<cenote:/home/p/x>";
        assert_eq!(ask(&world.user, "'box'"), [d, x]);
        assert_eq!(ask(&world.admin, "'box'"), [hidden, d, x]);
        assert_eq!(ask(&world.user, "(<p:note> 'red')"), [x]);
        assert!(ask(&world.user, "(<p:other> 'red')").is_empty());
    }
}

/// Queries that would take for ever, or all memory.
const ENDLESS: [&str; 6] = [
    "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o }",
    "SELECT DISTINCT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }",
    "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l } ORDER BY ?a DESC(?l)",
    "SELECT (COUNT(*) AS ?n) { VALUES ?a { 1 2 3 4 5 6 7 8 9 } VALUES ?b { 1 2 3 4 5 6 7 8 9 } VALUES ?c { 1 2 3 4 5 6 7 8 9 } VALUES ?d { 1 2 3 4 5 6 7 8 9 } VALUES ?e { 1 2 3 4 5 6 7 8 9 } VALUES ?f { 1 2 3 4 5 6 7 8 9 } VALUES ?g { 1 2 3 4 5 6 7 8 9 } VALUES ?h { 1 2 3 4 5 6 7 8 9 } VALUES ?i { 1 2 3 4 5 6 7 8 9 } }",
    "SELECT (GROUP_CONCAT(?c) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o }",
    "CONSTRUCT { ?a <p:x> ?l } { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }",
];

#[test]
fn hostile_queries_stop_at_a_limit() {
    let world = world();
    for text in ENDLESS {
        for (why, limits) in limits() {
            let reading = world.store.reading(&world.admin).unwrap();
            let asked = Query::parse(text, "http://h/").unwrap();
            let format = match asked.constructs() {
                true => Format::Graph(cenote_rdf::Syntax::NTriples),
                false => Format::Answers(Answers::Tsv),
            };
            let words = Plain(Graphs::Resources);
            let answer = query(&reading, asked, &words, format, &limits);
            let stopped = match why {
                "gone" => matches!(answer, Err(Error::Stopped)),
                _ => matches!(answer, Err(Error::Limit(_))),
            };
            assert!(stopped, "{why}: {text}");
        }
    }
}

/// Limits of which each query meets one.
fn limits() -> [(&'static str, Limits); 3] {
    let after = |looks: usize, stop: Stop| -> Rc<dyn Fn() -> Option<Stop>> {
        let looked = std::cell::Cell::new(0);
        Rc::new(move || {
            looked.set(looked.get() + 1);
            (looked.get() > looks).then_some(stop)
        })
    };
    let bytes = 1 << 20;
    [
        ("late", Limits { bytes, stop: after(100, Stop::Late), ..Limits::none() }),
        ("gone", Limits { stop: after(3, Stop::Gone), ..Limits::none() }),
        (
            "answer",
            Limits { bytes, answer: 1_000, stop: after(1_000, Stop::Late), ..Limits::none() },
        ),
    ]
}

#[test]
fn the_rows_examined_are_limited() {
    let world = world();
    let reading = world.store.reading(&world.admin).unwrap();
    let asked = Query::parse("SELECT * { ?s ?p ?o }", "http://h/").unwrap();
    let limits = Limits { rows: 5, ..Limits::none() };
    let words = Plain(Graphs::Resources);
    let answer = query(&reading, asked, &words, Format::Answers(Answers::Json), &limits);
    assert!(matches!(answer, Err(Error::Limit(_))));
}

#[test]
fn no_remote_service_is_queried() {
    let world = world();
    let words = Plain(Graphs::Resources);
    let text = "SELECT * { SERVICE <http://localhost:9/sparql> { ?s ?p ?o } }";
    assert!(matches!(world.ask(&world.admin, &words, text), Err(Error::Syntax(_))));
}
