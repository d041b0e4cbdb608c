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
                let answer = world.select(caller, &words, text).unwrap();
                prop_assert_eq!(answer, oracle.select(text), "{}", text);
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
                    let ask_query = format!("ASK {{ GRAPH <{iri}> {{ {pattern} }} {pattern} }}");
                    prop_assert!(world.truth(caller, &words, &ask_query), "{}", ask_query);
                }
                let own = graph.iter().filter(|it| it.predicate.starts_with("p:"));
                let own: BTreeSet<_> = own.map(|it| world::pattern(&iri, it)).collect();
                let own = own.len();
                let text = format!(
                    "SELECT (COUNT(*) AS ?n) {{ GRAPH <{iri}> {{ ?s ?p ?o FILTER(STRSTARTS(STR(?p), 'p:')) }} }}"
                );
                prop_assert_eq!(world.select(caller, &words, &text).unwrap()[0].clone(), own.to_string());
            }
            let graphs = world.select(caller, &words, "SELECT ?g { GRAPH ?g { } }").unwrap();
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
    let all = world.select(&world.admin, &words, count).unwrap();
    let seen = world.select(&world.user, &words, count).unwrap();
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
    assert_eq!(world.select(&world.user, &words, text).unwrap(), ["<cenote:/open/y>"]);
    world.rename("/open/x", "/open/z");
    assert_eq!(world.select(&world.user, &words, text).unwrap(), ["<cenote:/open/y>"]);
    let to = "SELECT ?to { <cenote:/open/y> <p:to> ?to }";
    assert_eq!(world.select(&world.user, &words, to).unwrap(), ["<cenote:/open/z>"]);
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
        let select = |caller, object: &str| {
            let text = format!("SELECT ?s {{ ?s <http://jena.apache.org/text#query> {object} }}");
            world.select(caller, &words, &text).unwrap()
        };
        let (x, d) = ("<cenote:/open/x>", "<cenote:/open/d>");
        let hidden = "<cenote:/home/p/x>";
        assert_eq!(select(&world.user, "'box'"), [d, x]);
        assert_eq!(select(&world.admin, "'box'"), [hidden, d, x]);
        assert_eq!(select(&world.user, "(<p:note> 'red')"), [x]);
        assert!(select(&world.user, "(<p:other> 'red')").is_empty());
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
            let parsed = Query::parse(text, "http://h/").unwrap();
            let format = match parsed.constructs() {
                true => Format::Graph(cenote_rdf::Syntax::NTriples),
                false => Format::Answers(Answers::Tsv),
            };
            let words = Plain(Graphs::Resources);
            let answer = query(&reading, parsed, &words, format, &limits);
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

/// What a query has within a limit of rows; none if it examines more.
fn within(world: &World, rows: u64, text: &str) -> Option<u64> {
    let reading = world.store.reading(&world.admin).unwrap();
    let parsed = Query::parse(text, "http://h/").unwrap();
    let (words, limits) = (Plain(Graphs::Resources), Limits { rows, ..Limits::none() });
    let answer = query(&reading, parsed, &words, Format::Answers(Answers::Tsv), &limits);
    answer.ok().map(|answer| answer.results)
}

/// There are a dozen resources, which a look at each of them, and at the classes of the collections among them, would count.
#[test]
fn resources_are_not_examined_for_objects_that_none_of_their_properties_has() {
    let world = world();
    let stated = |predicate: &str, object| Statement {
        subject: None,
        predicate: predicate.to_owned(),
        object,
        unit: None,
    };
    let class = Term::Iri("http://e/Box".to_owned());
    let kind = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
    world.describe(
        "/open/y",
        [stated(kind, class), stated("p:to", Term::Iri("cenote:/open/x".to_owned()))],
    );
    world.describe("/open/x", [stated("p:color", Term::string("red"))]);
    for text in [
        "SELECT ?s { ?s a <http://e/Box> }",
        "SELECT ?s { ?s ?p <http://e/Box> }",
        "SELECT ?s { ?s ?p '1'^^<http://www.w3.org/2001/XMLSchema#integer> }",
        "SELECT ?s { ?s <f:createdBy> 'red' } LIMIT 0",
        "SELECT ?s { ?s <p:to> ?x . ?x ?p 'red' }",
    ] {
        assert!(within(&world, 6, text).is_some(), "{text}");
    }
    let linked = "SELECT ?s ?p { ?s ?p <cenote:/open/x> }";
    assert_eq!(within(&world, 16, linked), Some(2), "{linked}: the link, and what contains it");
}

/// A media type may be any text, so that each of the 13 resources is looked at, but nothing else has to be computed of them.
#[test]
fn a_text_with_any_predicate_is_compared_only_with_properties_that_are_texts() {
    let world = world();
    let (subject, predicate) = (None, "p:color".to_owned());
    let red = Statement { subject, predicate, object: Term::string("red"), unit: None };
    world.describe("/open/x", [red]);
    let text = "SELECT ?s ?p { ?s ?p 'red' }";
    assert_eq!(within(&world, 20, text), Some(1), "{text}");
}

#[test]
fn resources_with_values_beyond_a_condition_are_not_examined() {
    let world = world();
    let typed = |value: String, datatype: &str| Term::Literal {
        value,
        datatype: Some(format!("http://www.w3.org/2001/XMLSchema#{datatype}")),
        language: None,
    };
    for (n, path) in world::PATHS.iter().enumerate() {
        let stated = [
            ("p:n", n.to_string(), "integer"),
            ("p:at", format!("20{:02}-01-01T00:00:00Z", n + 10), "dateTime"),
        ];
        let stated = stated.map(|(predicate, value, datatype)| Statement {
            subject: None,
            predicate: predicate.to_owned(),
            object: typed(value, datatype),
            unit: None,
        });
        world.describe(path, stated);
    }
    let (from, to) = ("'2012-06-01T00:00:00Z'", "'2014-06-01T00:00:00Z'");
    let moments = format!(
        "?t > {from}^^<http://www.w3.org/2001/XMLSchema#dateTime> && ?t < {to}^^<http://www.w3.org/2001/XMLSchema#dateTime>"
    );
    for (condition, count) in
        [("?n > 9", 2), ("?n = 3", 1), ("1 < ?n && ?n <= 3.5", 2), ("?n < -1", 0)]
    {
        let text = format!("SELECT ?s {{ ?s <p:n> ?n FILTER({condition}) }}");
        assert_eq!(within(&world, 8, &text), Some(count), "{text}");
    }
    let text = format!("SELECT ?s {{ ?s <p:at> ?t FILTER({moments}) }}");
    assert_eq!(within(&world, 8, &text), Some(2), "{text}");
    let all = "SELECT ?s { ?s <p:n> ?n . ?s <p:at> ?t FILTER(?n > 9) }";
    assert_eq!(within(&world, 12, all), Some(2), "the bounded pattern comes first");
}

/// The times of memberships are read ahead where resources are asked for in their order.
#[test]
fn the_last_change_of_a_collection_is_that_of_its_members_in_whatever_order_they_are_read() {
    let world = world();
    let words = Plain(Graphs::Resources);
    for n in 0..40 {
        world.collection(&format!("/open/c{n}"));
    }
    for n in (0..40).step_by(3) {
        world.collection(&format!("/open/c{n}/member"));
    }
    let all = world.select(&world.user, &words, "SELECT ?s ?t { ?s <f:lastModified> ?t }").unwrap();
    assert!(all.len() > 50, "{all:?}");
    for row in &all {
        let (subject, time) = row.split_once('\t').unwrap();
        let one = format!("SELECT ?t {{ {subject} <f:lastModified> ?t }}");
        assert_eq!(world.select(&world.user, &words, &one).unwrap(), [time], "{subject}");
        let path = subject.trim_start_matches("<cenote:").trim_end_matches('>');
        let reading = world.store.reading(&world.admin).unwrap();
        let (stat, _) =
            reading.graph(&path.parse::<cenote_store::StorePath>().unwrap().into()).unwrap();
        let described = stat.resource.described().time;
        let members = reading.membership(&stat).unwrap().map(|it| it.changed);
        let wanted = members.map_or(stat.resource.modified, |members| members.max(described));
        let wanted =
            if stat.resource.kind == cenote_store::Kind::Description { described } else { wanted };
        let wanted = jiff::Timestamp::from_nanosecond(wanted.nanos().into()).unwrap();
        assert!(time.contains(&wanted.to_string()), "{subject}: {time} and {wanted}");
    }
}

/// A description of so many statements is spread over rows.
#[test]
fn one_predicate_of_a_large_description_is_found_whatever_it_is_stated_of() {
    let world = world();
    let words = Plain(Graphs::Resources);
    let stated = |subject: Option<&str>, predicate: String, value: String| Statement {
        subject: subject.map(str::to_owned),
        predicate,
        object: Term::string(value),
        unit: None,
    };
    let many = (0..500).map(|n| stated(None, format!("p:{n}"), "x".repeat(100)));
    let few = [
        (None, "own"),
        (Some("#part"), "part"),
        (Some("_:n"), "blank"),
        (Some("http://e/x"), "other"),
    ];
    let few = few.map(|(subject, value)| stated(subject, "p:7".to_owned(), value.to_owned()));
    world.describe("/open/d", many.chain(few));
    let oracle = world.oracle(&world.user, &words);
    for text in [
        "SELECT ?s ?o { ?s <p:7> ?o }",
        "SELECT ?s ?o { GRAPH <cenote:/open/d> { ?s <p:7> ?o } }",
        "SELECT ?o { <cenote:/open/d> <p:7> ?o }",
        "SELECT ?o { <cenote:/open/d#part> <p:7> ?o }",
        "SELECT ?o { <http://e/x> <p:7> ?o }",
        "SELECT ?s { ?s <p:7> 'own' }",
        "SELECT ?s { ?s <p:8> ?x . ?s <p:7> 'own' }",
        "SELECT ?s { ?s <p:8> ?x . ?s <p:7> 'part' }",
    ] {
        let answer = world.select(&world.user, &words, text).unwrap();
        assert_eq!(answer, oracle.select(text), "{text}");
    }
    assert_eq!(oracle.select("SELECT ?o { ?s <p:7> ?o }").len(), 5);
}

#[test]
fn the_rows_examined_are_limited() {
    let world = world();
    let reading = world.store.reading(&world.admin).unwrap();
    let parsed = Query::parse("SELECT * { ?s ?p ?o }", "http://h/").unwrap();
    let limits = Limits { rows: 5, ..Limits::none() };
    let words = Plain(Graphs::Resources);
    let answer = query(&reading, parsed, &words, Format::Answers(Answers::Json), &limits);
    assert!(matches!(answer, Err(Error::Limit(_))));
}

#[test]
fn no_remote_service_is_queried() {
    let world = world();
    let words = Plain(Graphs::Resources);
    let text = "SELECT * { SERVICE <http://localhost:9/sparql> { ?s ?p ?o } }";
    assert!(matches!(world.select(&world.admin, &words, text), Err(Error::Syntax(_))));
}
