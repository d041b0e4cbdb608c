//! What queries cost: `queries DIR [COUNT] [alone]` makes `COUNT` collections of 200 statements each in a store in `DIR` (10,000: two million
//! triples), unless one is there, and copies what the store says of them to oxigraph in memory, some 600 bytes a triple, unless it is to be
//! `alone`. It prints the median times of some queries in milliseconds, of both in turns, with how many results they have.
//!
//! The statements are like those of LAKEsuperior's `lsup-benchmark`, as in the store's example `describe`, and a number; the first query is the
//! one that its report times.

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on should stop")]

#[path = "../../store/examples/shape/mod.rs"]
mod shape;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use cenote_blob::Place;
use cenote_kv::{FjallEngine, FjallOptions};
use cenote_query::sparql::{Answer, Graphs, Limits, Words, query};
use cenote_rdf::{Answers, Format, Query, Syntax};
use cenote_store::{
    Caller, Conditions, CreateOptions, Draft, Graph, Parts, Statement, Store, StorePath, Term,
    Version,
};
use oxigraph::io::RdfFormat;
use oxigraph::sparql::{QueryResults, SparqlEvaluator};
use oxigraph::store::Store as Oxigraph;
use sparesults::{QueryResultsFormat, QueryResultsSerializer};

/// How often each query is run by each.
const ROUNDS: usize = 5;

const QUERIES: [(&str, &str); 12] = [
    (
        "the published count",
        "SELECT (COUNT(?s) AS ?c) { ?s a <http://www.w3.org/ns/ldp#Resource> . ?s a <http://www.w3.org/ns/ldp#Container> }",
    ),
    (
        "a resource by a text, and two links from it",
        "SELECT ?t ?e { ?s <urn:intp:u1> ?t . ?t <urn:extp:u0> ?e . ?s <urn:litp:l3> 'text 1000003' }",
    ),
    ("what links to a resource", "SELECT DISTINCT ?s { ?s ?p <cenote:/parent/1000> }"),
    ("a text with any predicate", "SELECT ?s ?p { ?s ?p 'text 1000003' }"),
    ("a class that one resource has", "SELECT ?s { ?s a <urn:class:77> }"),
    (
        "ten numbers of all, by a condition",
        "SELECT ?s ?n { ?s <urn:number> ?n FILTER(?n >= 500 && ?n < 510) }",
    ),
    (
        "100 resources by number, with a text of each",
        "SELECT ?s ?n ?t { ?s <urn:number> ?n ; <urn:litp:l7> ?t FILTER(?n >= 500 && ?n < 600) }",
    ),
    (
        "ten of 100 links to a site, by number",
        "SELECT ?s { ?s <urn:number> ?n . ?s <urn:extp:u7> <http://example.edu/res/0> FILTER(?n > 500 && ?n <= 510) }",
    ),
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

    fn states_basic_container(&self) -> bool {
        true
    }

    fn graphs(&self) -> Graphs {
        Graphs::Resources
    }

    fn version(&self, version: &Version) -> String {
        version.version.to_string()
    }
}

fn main() {
    let mut args = std::env::args_os().skip(1);
    let dir = PathBuf::from(args.next().expect("a directory to make the store in"));
    let count = args.next().map_or(10_000, |count| count.to_str().unwrap().parse().unwrap());
    let is_alone = args.next().is_some_and(|word| word == "alone");
    let (store, admin) = store(&dir, count);
    let peer = (!is_alone).then(|| copied(&store, &admin, count));
    println!("   cenote  oxigraph  results");
    for (name, text) in QUERIES {
        let (mut ours, mut theirs, mut results) = (Vec::new(), Vec::new(), 0);
        for _ in 0..ROUNDS {
            let (time, found) = timed(|| run_query(&store, &admin, text, JSON).results);
            ours.push(time);
            results = found;
            if let Some(peer) = &peer {
                let (time, others) = timed(|| query_peer(peer, text));
                theirs.push(time);
                assert!(found == others, "{name}: {found} and {others} results");
            }
        }
        let theirs = if theirs.is_empty() { f64::NAN } else { median(theirs) };
        println!("{:9.2} {theirs:9.2} {results:8}  {name}", median(ours));
    }
}

/// The store in a directory, with the collections.
fn store(dir: &Path, count: u64) -> (Store, Caller) {
    let is_made = dir.join("made").exists();
    let engine = FjallEngine::open(dir.join("catalog"), FjallOptions::default()).unwrap();
    let parts = Parts::new(engine, Place::local("main", dir.join("contents")).unwrap());
    let store = match is_made {
        true => Store::open_existing(parts).unwrap(),
        false => Store::create_new(parts, "admin", "password").unwrap(),
    };
    let admin = store.caller_for(store.person_named("admin").unwrap().0).unwrap();
    if !is_made {
        fill(&store, &admin, count);
        std::fs::write(dir.join("made"), "").unwrap();
    }
    (store, admin)
}

const JSON: Format = Format::Answers(Answers::Json);

/// The result, and how many milliseconds it took.
#[allow(clippy::disallowed_methods, reason = "it measures time")]
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let begun = Instant::now();
    let result = work();
    (begun.elapsed().as_secs_f64() * 1e3, result)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// What the store says of the collections, in memory.
fn copied(store: &Store, admin: &Caller, count: u64) -> Oxigraph {
    let peer = Oxigraph::new().unwrap();
    let mut loader = peer.bulk_loader();
    let paths = (0..count).map(|n| format!("/parent/{n}"));
    for path in ["/".to_owned(), "/parent".to_owned()].into_iter().chain(paths) {
        let of = format!("<cenote:{path}> ?p ?o");
        let all = format!("CONSTRUCT {{ {of} }} {{ {of} }}");
        let triples = run_query(store, admin, &all, Format::Graph(Syntax::NTriples)).text;
        loader.load_from_slice(RdfFormat::NTriples, &triples).unwrap();
    }
    loader.commit().unwrap();
    peer
}

/// How many results oxigraph has, written as ours are.
fn query_peer(peer: &Oxigraph, text: &str) -> u64 {
    let query = SparqlEvaluator::new().parse_query(text).unwrap();
    let QueryResults::Solutions(found) = query.on_store(peer).execute().unwrap() else { return 1 };
    let json = QueryResultsSerializer::from_format(QueryResultsFormat::Json);
    let variables = found.variables().to_vec();
    let mut written = json.serialize_solutions_to_writer(Vec::new(), variables).unwrap();
    let mut results = 0;
    for solution in found {
        written.serialize(&solution.unwrap()).unwrap();
        results += 1;
    }
    written.finish().unwrap();
    results
}

/// How many collections are made at a time: their commits wait for the disk together.
const WRITERS: u64 = 8;

/// First the collections, so that the links between them lead somewhere, then what is stated of them.
fn fill(store: &Store, admin: &Caller, count: u64) {
    create(store, admin, "/parent");
    let each = |work: &(dyn Fn(u64) + Sync)| {
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                scope.spawn(move || (writer..count).step_by(WRITERS as usize).for_each(work));
            }
        });
    };
    each(&|n| create(store, admin, &format!("/parent/{n}")));
    each(&|n| {
        let path: StorePath = format!("/parent/{n}").parse().unwrap();
        let put = |_: &Graph| Ok(described(n));
        store.change_graph(admin, &path.into(), &Conditions::default(), put).unwrap();
    });
}

fn create(store: &Store, admin: &Caller, path: &str) {
    let path: StorePath = path.parse().unwrap();
    store.create(admin, &path, Draft::Collection, CreateOptions::default()).unwrap();
}

fn run_query(store: &Store, admin: &Caller, text: &str, format: Format) -> Answer {
    let reading = store.reading(admin).unwrap();
    let parsed = Query::parse(text, "http://h/").unwrap();
    query(&reading, parsed, &Plain, format, &Limits::none()).unwrap()
}

fn described(n: u64) -> Graph {
    let before = format!("/parent/{}", n.saturating_sub(1));
    let integer = "http://www.w3.org/2001/XMLSchema#integer".to_owned();
    let number = Term::Literal { value: n.to_string(), datatype: Some(integer), language: None };
    let class = Term::Iri(format!("urn:class:{n}"));
    let mut graph = shape::graph(n, &before, |number| format!("text {number}"));
    graph.extend([("urn:number", number), (RDF_TYPE, class)].map(|(predicate, object)| {
        Statement { subject: None, predicate: predicate.to_owned(), object, unit: None }
    }));
    graph
}

const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
