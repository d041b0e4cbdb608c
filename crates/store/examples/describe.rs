//! What a description of 200 statements costs: `describe DIR [COUNT]` puts one on each of `COUNT` resources, and prints the
//! median time of a durable change in microseconds, and the bytes that each of them takes in the tables of the catalog (its
//! logs, journal and reserve have a size of their own).
//!
//! The statements are those of LAKEsuperior's `lsup-benchmark`: 200 predicates; 50 links to the resource before, 50 IRIs of 5
//! others, 100 texts of 64 letters of many scripts that occur once. To compare two programs, run them in turns.

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on should stop")]

mod shape;

use std::path::{Path, PathBuf};
use std::time::Instant;

use cenote_blob::Place;
use cenote_kv::{FjallEngine, FjallOptions};
use cenote_store::{Caller, Conditions, CreateOptions, Draft, Graph, Parts, Store, StorePath};

/// Code points that the texts are made of, as first and number of them.
const SCRIPTS: [(u32, u32); 7] =
    [(0x23, 90), (0xa1, 94), (0x100, 127), (0x180, 207), (0x2c60, 31), (0x16a0, 74), (0x3b1, 24)];

fn main() {
    let mut args = std::env::args_os().skip(1);
    let dir = PathBuf::from(args.next().expect("a directory to make the store in"));
    let count = args.next().map_or(2_000, |count| count.to_str().unwrap().parse().unwrap());
    let dir = tempfile::tempdir_in(&dir).unwrap();
    let mut times = {
        let (store, admin) = store(dir.path());
        let mut target = "/parent".parse().unwrap();
        (0..count).map(|n| describe(&store, &admin, n, &mut target)).collect::<Vec<_>>()
    };
    let last = median(&mut times[count as usize * 9 / 10..]);
    let all = median(&mut times);
    let bytes = size(dir.path()) / count;
    println!(
        "{all:.0} us, the last tenth {last:.0} us; {bytes} bytes on disk each, logs among them"
    );
}

fn store(dir: &Path) -> (Store, Caller) {
    let engine = FjallEngine::open(dir.join("catalog"), FjallOptions::default()).unwrap();
    let parts = Parts::new(engine, Place::local("main", dir.join("contents")).unwrap());
    let store = Store::create_new(parts, "admin", "password").unwrap();
    let admin = store.caller_for(store.person_named("admin").unwrap().0).unwrap();
    make(&store, &admin, &"/parent".parse().unwrap(), Draft::Collection);
    (store, admin)
}

fn make(store: &Store, admin: &Caller, path: &StorePath, draft: Draft) {
    store.create(admin, path, draft, CreateOptions::default()).unwrap();
}

/// The time that it took, in microseconds.
#[allow(clippy::disallowed_methods, reason = "it measures time")]
fn describe(store: &Store, admin: &Caller, n: u64, target: &mut StorePath) -> f64 {
    let path: StorePath = format!("/parent/00000000-0000-4000-8000-{n:012x}").parse().unwrap();
    make(store, admin, &path, Draft::Description);
    let graph = shape::graph(n, &target.to_string(), text);
    let begun = Instant::now();
    let put = |_: &Graph| Ok(graph.clone());
    store.change_graph(admin, &path.clone().into(), &Conditions::default(), put).unwrap();
    let time = begun.elapsed().as_secs_f64() * 1e6;
    *target = path;
    time
}

fn text(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let letters = std::iter::repeat_with(|| {
        state = (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(0x9e37);
        let (first, number) = SCRIPTS[(state >> 40) as usize % SCRIPTS.len()];
        char::from_u32(first + (state >> 20) as u32 % number).unwrap()
    });
    letters.take(64).collect()
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn size(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    let of = |entry: std::fs::DirEntry| match entry.file_type().unwrap().is_dir() {
        true => size(&entry.path()),
        false => entry.metadata().unwrap().len(),
    };
    entries.map(of).sum()
}
