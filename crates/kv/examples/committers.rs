//! Commits a second and their latency over PostgreSQL, by the number of callers that commit at once:
//! `committers [--seconds N] [--callers N] [--servers N] [--evidence BYTES] [--reading] [CONFIG]`.
//!
//! Without the settings of a connection it starts a server of its own, on the disk of the temporary directory, that syncs each commit.
//! A commit is what a small `put` of the store makes: four keys of evidence, six rows, a counter that all callers add to, a record of
//! the feed, and a token. With `--evidence` a fifth key of evidence has a value of so many bytes, as a collection with a long access list
//! above the object: 1,000 lines take some 20,000. The callers are those of so many servers, one if not given. With `--reading` a snapshot
//! is held all the time, as an open change set does. At the end of each line: what updates left in the tables.

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on should stop")]

#[path = "../tests/postgres_server/mod.rs"]
mod postgres_server;

use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use cenote_kv::{Batch, Engine, PostgresEngine};
use postgres::{Client, NoTls};
use postgres_server::Server;

const CALLERS: [u64; 4] = [1, 4, 16, 64];

/// As Debian's server does, unlike the server of the tests.
const DURABLE: &str = "-c fsync=on -c synchronous_commit=on -c max_connections=200";

struct Options {
    time: Duration,
    callers: Vec<u64>,
    servers: u64,
    evidence: u64,
    reading: bool,
    config: Option<String>,
}

fn main() {
    let options = options();
    let server = options.config.is_none().then(|| Server::start_with(DURABLE).unwrap());
    println!("callers  commits/s   median ms   p99 ms   max ms");
    for callers in &options.callers {
        let config = match (&options.config, &server) {
            (Some(config), _) => config.clone(),
            (None, Some(server)) => server.schema(&format!("bench{callers}")),
            (None, None) => return,
        };
        measure(&config, *callers, &options);
    }
}

fn options() -> Options {
    let (time, callers) = (Duration::from_secs(10), CALLERS.to_vec());
    let mut options =
        Options { time, callers, servers: 1, evidence: 0, reading: false, config: None };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().expect("a number follows").parse().unwrap();
        match arg.as_str() {
            "--seconds" => options.time = Duration::from_secs(number()),
            "--callers" => options.callers = vec![number()],
            "--servers" => options.servers = number(),
            "--evidence" => options.evidence = number(),
            "--reading" => options.reading = true,
            _ => options.config = Some(arg),
        }
    }
    options
}

/// Prints one line.
fn measure(config: &str, callers: u64, options: &Options) {
    let engines: Vec<_> =
        (0..options.servers).map(|_| PostgresEngine::open(config).unwrap()).collect();
    let list = access_list(options.evidence);
    if let Some(list) = &list {
        set(&engines[0], ACCESS, list);
    }
    let held = options.reading.then(|| engines[0].snapshot().unwrap());
    let times = thread::scope(|scope| {
        let threads: Vec<_> = (0..callers)
            .map(|caller| {
                let engine = &engines[(caller % options.servers) as usize];
                let list = list.clone();
                scope.spawn(move || commits(engine, caller, list, options.time))
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    print_line(callers, times, options.time);
    println!("         {}", leftovers(config));
    drop(held);
}

fn print_line(callers: u64, mut times: Vec<f64>, time: Duration) {
    times.sort_by(f64::total_cmp);
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    let rate = times.len() as f64 / time.as_secs_f64();
    println!("{callers:>7}  {rate:>9.0}   {:>9.2}   {:>6.1}   {:>6.1}", at(0.5), at(0.99), at(1.0));
}

/// The milliseconds that each commit of one caller took.
#[allow(clippy::disallowed_methods, reason = "it measures time")]
fn commits(engine: &PostgresEngine, caller: u64, list: Option<Bytes>, time: Duration) -> Vec<f64> {
    let begun = Instant::now();
    let mut times = Vec::new();
    while begun.elapsed() < time {
        let mut batch = batch(caller, times.len() as u64);
        if let Some(list) = &list {
            batch.expect(ACCESS, Some(list.clone()));
        }
        let sent = Instant::now();
        engine.commit(batch).unwrap();
        times.push(sent.elapsed().as_secs_f64() * 1e3);
    }
    times
}

/// What the `n`th small `put` of a caller changes; a caller writes 1,000 objects in turn, each again and again.
fn batch(caller: u64, n: u64) -> Batch {
    let (object, round) = (n % 1_000, n / 1_000);
    let key = |kind: &str| format!("{kind}/{caller}/{object}");
    let value = |round: u64| round.to_be_bytes().repeat(16);
    let token = u128::from(caller) << 64 | u128::from(n);
    let mut batch = Batch { token: Some(token.to_be_bytes()), ..Batch::default() };
    batch.expect(key("n"), (round > 0).then(|| value(round - 1).into()));
    batch.expect("parent", None).expect("root", None).expect(key("missing"), None);
    for kind in ["n", "c", "k", "r", "b", "e"] {
        batch.put(key(kind), value(round));
    }
    batch.add("count", 1).append("feed", value(n));
    batch
}

/// The key of the access list.
const ACCESS: &str = "access";

/// So many bytes that do not repeat, as ids do not; none for none.
fn access_list(size: u64) -> Option<Bytes> {
    let id = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    let list: Vec<u8> = (1..).flat_map(id).take(size as usize).collect();
    (size > 0).then(|| list.into())
}

fn set(engine: &PostgresEngine, key: &'static str, value: &Bytes) {
    let mut batch = Batch::default();
    batch.put(key, value.clone());
    engine.commit(batch).unwrap();
}

/// Rows that no transaction sees any more, and the sizes of the tables.
fn leftovers(config: &str) -> String {
    let query = "SELECT string_agg(format('%s: %s dead, %s', relname, n_dead_tup, pg_size_pretty(pg_total_relation_size(relid))), '; '
                     ORDER BY relname) FROM pg_stat_user_tables WHERE schemaname = current_schema()";
    Client::connect(config, NoTls).unwrap().query_one(query, &[]).unwrap().get(0)
}
