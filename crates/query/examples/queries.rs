//! What queries cost: `queries DIR [COUNT]` makes `COUNT` collections of 200 statements each in a store in `DIR` (10,000: two million
//! triples), and prints the median time of some queries in milliseconds, with how many results they have.
//!
//! The statements are like those of LAKEsuperior's `lsup-benchmark`, as in the store's example `describe`; the first query is the one
//! that its report times.

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on should stop")]

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Instant;

use cenote_blob::Place;
use cenote_kv::{FjallEngine, FjallOptions};
use cenote_query::sparql::{Graphs, Limits, Words, query};
use cenote_rdf::{Answers, Format, Query};
use cenote_store::{
    Caller, Conditions, CreateOptions, Draft, Graph, Parts, Statement, Store, StorePath, Term,
};

const QUERIES: [(&str, &str); 7] = [
    (
        "the published count",
        "SELECT (COUNT(?s) AS ?c) { ?s a <http://www.w3.org/ns/ldp#Resource> . ?s a <http://www.w3.org/ns/ldp#Container> }",
    ),
    (
        "a resource by a text, and two links from it",
        "SELECT ?t ?e { ?s <urn:intp:u1> ?t . ?t <urn:extp:u0> ?e . ?s <urn:litp:l3> 'text 1000003' }",
    ),
    ("what links to a resource", "SELECT DISTINCT ?s { ?s ?p <cenote:/parent/1000> }"),
    ("what is known of a resource", "SELECT ?p ?o { <cenote:/parent/77> ?p ?o }"),
    ("100 of those that state a predicate", "SELECT ?s ?o { ?s <urn:extp:u3> ?o } LIMIT 100"),
    ("all that state a predicate", "SELECT (COUNT(?o) AS ?c) { ?s <urn:extp:u3> ?o }"),
    ("the newest ten", "SELECT ?s ?d { ?s <f:lastModified> ?d } ORDER BY DESC(?d) LIMIT 10"),
];

#[derive(Debug)]
struct Plain;

impl Words for Plain {
    fn outward<'a>(&self, iri: &'a str) -> Cow<'a, str> {
        iri.into()
    }

    fn inward<'a>(&self, iri: &'a str) -> Cow<'a, str> {
        iri.into()
    }

    fn fedora(&self) -> &str {
        "f:"
    }

    fn says_basic(&self) -> bool {
        true
    }

    fn graphs(&self) -> Graphs {
        Graphs::Resources
    }
}

#[allow(clippy::disallowed_methods, reason = "it measures time")]
fn main() {
    let mut args = std::env::args_os().skip(1);
    let dir = PathBuf::from(args.next().expect("a directory to make the store in"));
    let count = args.next().map_or(10_000, |count| count.to_str().unwrap().parse().unwrap());
    let engine = FjallEngine::open(dir.join("catalog"), FjallOptions::default()).unwrap();
    let parts = Parts::new(engine, Place::local("main", dir.join("contents")).unwrap());
    let store = Store::create_new(parts, "admin", "password").unwrap();
    let admin = store.caller_for(store.person_named("admin").unwrap().0).unwrap();
    make(&store, &admin, "/parent", &Graph::new());
    for n in 0..count {
        make(&store, &admin, &format!("/parent/{n}"), &graph(n));
    }
    for (name, text) in QUERIES {
        let (mut times, mut results) = (Vec::new(), 0);
        for _ in 0..5 {
            let begun = Instant::now();
            results = ask(&store, &admin, text);
            times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        println!("{:9.2} ms  {results:6}  {name}", times[2]);
    }
}

fn make(store: &Store, admin: &Caller, path: &str, graph: &Graph) {
    let path: StorePath = path.parse().unwrap();
    store.create(admin, &path, Draft::Collection, CreateOptions::default()).unwrap();
    let put = |_: &Graph| Ok(graph.clone());
    store.change_graph(admin, &path.into(), &Conditions::default(), put).unwrap();
}

fn ask(store: &Store, admin: &Caller, text: &str) -> u64 {
    let reading = store.reading(admin).unwrap();
    let asked = Query::parse(text, "http://h/").unwrap();
    let format = Format::Answers(Answers::Json);
    query(&reading, asked, &Plain, format, &Limits::none()).unwrap().results
}

fn graph(n: u64) -> Graph {
    let links = (0..50).flat_map(|i| {
        let before = format!("cenote:/parent/{}", n.saturating_sub(1));
        let other = format!("http://example.edu/res/{}", i / 10);
        [
            (format!("urn:intp:u{i}"), Term::Iri(before)),
            (format!("urn:extp:u{i}"), Term::Iri(other)),
        ]
    });
    let texts = (0..50).flat_map(|i| [i, i + 200]);
    let texts =
        texts.map(|i| (format!("urn:litp:l{i}"), Term::string(format!("text {}", n * 1_000 + i))));
    let statement =
        |(predicate, object)| Statement { subject: None, predicate, object, unit: None };
    links.chain(texts).map(statement).collect()
}
