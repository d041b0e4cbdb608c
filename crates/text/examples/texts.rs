//! What the index of texts costs: `texts DIR [COUNT]` makes `COUNT` collections of 200 statements each in a store in `DIR` (10,000: two million
//! triples, a million of them texts), and prints what it took to make the index, its size, and the times of some searches.
//!
//! The statements are like those of LAKEsuperior's `lsup-benchmark`, as in the store's example `describe`.

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on should stop")]

#[path = "../../store/examples/shape/mod.rs"]
mod shape;

use std::path::{Path, PathBuf};
use std::time::Instant;

use cenote_blob::Place;
use cenote_kv::{FjallEngine, FjallOptions};
use cenote_store::{
    At, Caller, Conditions, CreateOptions, Draft, Graph, Parts, Query, ResourceId, Store, StorePath,
};
use cenote_text::TextIndex;

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
    let begun = Instant::now();
    (0..count).for_each(|n| make(&store, &admin, &format!("/parent/{n}"), &described(n)));
    let each = begun.elapsed().as_secs_f64() * 1e3 / count as f64;
    println!("{each:9.2} ms  a create and a description of 200 statements");
    let index = TextIndex::in_directory(dir.join("text"));
    let begun = Instant::now();
    drop(index.lead(&store, &|| true).unwrap());
    let seconds = begun.elapsed().as_secs_f64();
    println!("{seconds:9.2} s   to make the index of {count} resources");
    println!("{:9.2} MB  the index", bytes(&dir.join("text")) as f64 / 1e6);
    println!("{:9.2} MB  the catalog", bytes(&dir.join("catalog")) as f64 / 1e6);
    let begun = Instant::now();
    drop(TextIndex::in_directory(dir.join("text")).lead(&store, &|| true).unwrap());
    println!("{:9.2} ms  to open it again", begun.elapsed().as_secs_f64() * 1e3);
    for (name, text) in [
        ("a word of one resource", "1000003"),
        ("a word of all", "text"),
        ("a word of one and a word of all", "text 1000003"),
        ("the beginning of a word", "100000*"),
        ("a word that is nowhere", "nothing"),
    ] {
        time(name, || (), || search(&index, &store, &admin, text));
    }
    let write = || make(&store, &admin, "/parent/77", &described(77));
    time("a word of one, after a write", write, || search(&index, &store, &admin, "1000003"));
    (0..300).for_each(|n| make(&store, &admin, &format!("/parent/later {n}"), &described(n)));
    let begun = Instant::now();
    drop(index.lead(&store, &|| true).unwrap());
    println!("{:9.2} ms  to put 300 more into it", begun.elapsed().as_secs_f64() * 1e3);
}

/// The median of nine.
#[allow(clippy::disallowed_methods, reason = "it measures time")]
fn time(name: &str, prepare: impl Fn(), work: impl Fn() -> usize) {
    let (mut times, mut results) = (Vec::new(), 0);
    for _ in 0..9 {
        prepare();
        let begun = Instant::now();
        results = work();
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    println!("{:9.2} ms  {results:6}  {name}", times[4]);
}

/// The first page of a search.
fn search(index: &TextIndex, store: &Store, admin: &Caller, text: &str) -> usize {
    let query = Query {
        under: At::Id(ResourceId::ROOT),
        conditions: Vec::new(),
        name: None,
        kind: None,
        text: Some(text.parse().unwrap()),
        after: None,
        limit: 100,
        effort: Query::EFFORT,
    };
    let lead = index.lead(store, &|| true).unwrap();
    store.search_with(admin, &query, Some(lead.as_ref())).unwrap().items.len()
}

/// Makes a collection if it is missing, and describes it.
fn make(store: &Store, admin: &Caller, path: &str, graph: &Graph) {
    let path: StorePath = path.parse().unwrap();
    let _ = store.create(admin, &path, Draft::Collection, CreateOptions::default());
    let put = |_: &Graph| Ok(graph.clone());
    store.change_graph(admin, &path.into(), &Conditions::default(), put).unwrap();
}

/// The bytes in a directory.
fn bytes(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    let sizes = entries.map(|entry| match entry.metadata().unwrap() {
        meta if meta.is_dir() => bytes(&entry.path()),
        meta => meta.len(),
    });
    sizes.sum()
}

fn described(n: u64) -> Graph {
    let before = format!("/parent/{}", n.saturating_sub(1));
    shape::graph(n, &before, |number| format!("text {number}"))
}
