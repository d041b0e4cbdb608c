//! Many committers over PostgreSQL, through two servers, whose connections and whose database are killed: whatever was acknowledged
//! is as if it had been committed one after the other, in the order of the versions.
//!
//! Needs an installed server, as `postgres.rs` does.
#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod postgres_server;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use bytes::Bytes;
use cenote_kv::{
    Batch, CommitError, Engine, KeyRange, MemoryEngine, PostgresEngine, RangeDigest, Row,
    ScanOptions, Snapshot, Token, Version,
};
use postgres_server::Server;

const COMMITTERS: u64 = 12;
/// Commits that each of them tries.
const EACH: u64 = 40;
/// Acknowledged commits between two kills.
const BETWEEN: usize = 40;
/// Keys that all of them rely on and change.
const KEYS: u64 = 6;
/// What the counter may hold at most.
const MOST: i64 = 60;

/// Numbers that depend on the seed only.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn key(&mut self) -> String {
        format!("k{}", self.below(KEYS))
    }
}

/// A batch with its version.
type Committed = (Version, Batch);

/// Attempts that came to each end.
#[derive(Default)]
struct Ends {
    conflicts: AtomicU64,
    exceeded: AtomicU64,
}

/// A change that relies on a key and sometimes on a range, and adds to or takes from a counter with a bound.
fn batch(view: &dyn Snapshot, dice: &mut Dice, token: Token) -> cenote_kv::Result<Batch> {
    let mut batch = Batch { token: Some(token), ..Batch::new(view.version()) };
    let key = dice.key();
    batch.expect(key.clone(), view.get(key.as_bytes())?);
    if dice.below(4) == 0 {
        let range = KeyRange::new(dice.key(), dice.key());
        let limit = dice.below(3) as usize;
        let rows: Vec<Row> =
            view.scan(&range, ScanOptions::limit(limit)).collect::<Result<_, _>>()?;
        batch.expect_range(range, limit, RangeDigest::of(&rows));
    }
    match dice.below(3) {
        0 => batch.delete(key),
        _ => batch.put(key, token.to_vec()),
    };
    match dice.below(5) {
        0 => batch.add("count", -9),
        _ => batch.add("count", 5).require_at_most("count", MOST),
    };
    batch.append("log/", token.to_vec());
    Ok(batch)
}

/// The version of `batch`, if it was committed.
fn settle(engine: &dyn Engine, batch: Batch, ends: &Ends) -> Option<Version> {
    let token = batch.token.unwrap();
    let count = |what: &AtomicU64| what.fetch_add(1, Ordering::Relaxed);
    match engine.commit(batch) {
        Ok(version) => return Some(version),
        Err(CommitError::Conflict { .. }) => count(&ends.conflicts),
        Err(CommitError::Exceeded { held, .. }) => {
            assert!(held + 5 > MOST);
            count(&ends.exceeded)
        }
        Err(CommitError::Unknown(_)) => {
            return outcome_once_reachable(engine, &token);
        }
        // There was no connection to be had, and nothing was sent.
        Err(CommitError::Engine(_)) => 0,
        Err(failed) => panic!("{failed:?}"),
    };
    None
}

/// Retries until the database answers again.
fn outcome_once_reachable(engine: &dyn Engine, token: &Token) -> Option<Version> {
    loop {
        match engine.outcome(token) {
            Ok(version) => return version,
            Err(_) => thread::yield_now(),
        }
    }
}

/// What a committer got through; each is reported to `done`, too.
fn commits(engine: &dyn Engine, seed: u64, ends: &Ends, done: &Sender<()>) -> Vec<Committed> {
    let mut dice = Dice(seed);
    let mut committed = Vec::new();
    for n in 0..EACH {
        let token = (u128::from(seed) << 64 | u128::from(n)).to_be_bytes();
        let read = || batch(&*engine.snapshot()?, &mut dice, token);
        let batch = std::iter::repeat_with(read).find_map(Result::ok).unwrap();
        if let Some(version) = settle(engine, batch.clone(), ends) {
            committed.push((version, batch));
            done.send(()).unwrap();
        }
    }
    committed
}

/// Runs all committers on two servers of one catalog, calls `kill` after each few commits, and compares.
fn survives(mut server: Server, mut kill: impl FnMut(&mut Server) + Send) -> Ends {
    let config = server.schema("stress");
    let engines = [(); 2].map(|()| PostgresEngine::open(&config).unwrap());
    let (ends, (report, reports)) = (Ends::default(), mpsc::channel());
    let committed = thread::scope(|scope| {
        let committers: Vec<_> = (0..COMMITTERS)
            .map(|seed| {
                let (engine, ends, report) = (&engines[seed as usize % 2], &ends, report.clone());
                scope.spawn(move || commits(engine, seed, ends, &report))
            })
            .collect();
        drop(report);
        each_few(&reports, || kill(&mut server));
        committers.into_iter().flat_map(|committer| committer.join().unwrap()).collect()
    });
    assert_serial(&engines[0], committed);
    ends
}

fn each_few(reports: &Receiver<()>, mut kill: impl FnMut()) {
    while reports.iter().take(BETWEEN).count() == BETWEEN {
        kill();
    }
}

/// Committed one after the other, each at its version, the batches are all valid, and leave what is there.
fn assert_serial(engine: &dyn Engine, committed: Vec<Committed>) {
    let model = MemoryEngine::new();
    let in_order: BTreeMap<Version, Batch> = committed.into_iter().collect();
    for (version, batch) in in_order {
        // Without a version seen, the model checks all evidence.
        assert_eq!(model.commit(Batch { seen: 0, ..batch }).unwrap(), version);
    }
    assert_eq!(rows(engine), rows(&model));
    assert_eq!(engine.snapshot().unwrap().version(), model.snapshot().unwrap().version());
}

fn rows(engine: &dyn Engine) -> Vec<(Bytes, Bytes)> {
    let view = engine.snapshot().unwrap();
    view.scan(&KeyRange::all(), ScanOptions::default()).collect::<Result<_, _>>().unwrap()
}

#[test]
fn committers_are_serial_while_their_connections_are_ended() {
    let Some(server) = Server::start() else { return };
    let ends = survives(server, |server| {
        let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
        server.client(5432).execute(end, &[]).unwrap();
    });
    assert!(ends.conflicts.into_inner() > 0 && ends.exceeded.into_inner() > 0);
}

#[test]
fn committers_are_serial_while_the_database_is_killed() {
    let Some(server) = Server::start() else { return };
    let ends = survives(server, |server| {
        server.kill();
        server.ready();
    });
    assert!(ends.conflicts.into_inner() > 0 && ends.exceeded.into_inner() > 0);
}
