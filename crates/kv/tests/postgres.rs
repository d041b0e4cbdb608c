//! The PostgreSQL engine, under the suite that every engine has to pass, on a server that
//! this test starts for itself.
//!
//! Without an installed server the tests say so and pass, unless
//! `CENOTE_REQUIRE_POSTGRES` is set.
#![cfg(feature = "postgres")]

mod postgres_server;

use std::sync::{Arc, mpsc};

use cenote_kv::conformance::Subject;
use cenote_kv::{Batch, Engine, KeyRange, PostgresEngine, ScanOptions};

use postgres_server::fresh_schema;

/// A schema of its own on a server shared by the tests of this process.
struct Postgres {
    config: String,
}

impl Postgres {
    fn fresh() -> Option<Self> {
        Some(Self { config: fresh_schema()? })
    }
}

impl Subject for Postgres {
    fn open(&self) -> Arc<dyn Engine> {
        Arc::new(PostgresEngine::open(&self.config).expect("the server takes connections"))
    }
}

cenote_kv::conformance_tests!(match Postgres::fresh() {
    Some(subject) => subject,
    None => return,
});

#[test]
fn an_outcome_of_none_is_final() {
    let Some(subject) = Postgres::fresh() else { return };
    let engine = subject.open();
    assert_eq!(engine.outcome(&[1; 16]).unwrap(), None);
    let mut late = Batch { token: Some([1; 16]), ..Batch::default() };
    late.put("a", "1");
    assert!(engine.commit(late).is_err());
    assert_eq!(engine.snapshot().unwrap().version(), 0);
    assert_eq!(engine.outcome(&[1; 16]).unwrap(), None);
}

#[test]
fn engines_of_two_servers_share_one_store() {
    let Some(subject) = Postgres::fresh() else { return };
    let (one, other) = (subject.open(), subject.open());
    let mut batch = Batch::default();
    batch.put("a", "1");
    assert_eq!(one.commit(batch.clone()).unwrap(), 1);
    assert_eq!(other.commit(batch).unwrap(), 2);
    assert_eq!(one.snapshot().unwrap().version(), 2);
}

fn appended(engine: &dyn Engine) {
    let mut batch = Batch::default();
    batch.append("log", "entry");
    engine.commit(batch).expect("nothing conflicts with it");
}

/// Calls for nothing are allowed, so each wait is for one that has to come.
#[test]
fn a_commit_is_told_to_other_servers_also_after_the_database_was_killed() {
    let Some(mut server) = postgres_server::Server::start() else { return };
    let config = server.schema("told");
    let (one, other) =
        (PostgresEngine::open(&config).unwrap(), PostgresEngine::open(&config).unwrap());
    let (tell, told) = mpsc::channel();
    other.follow(Box::new(move || {
        let _ = tell.send(());
    }));
    told.recv().unwrap();
    appended(&one);
    told.recv().unwrap();
    server.kill();
    server.ready();
    told.recv().unwrap();
    drop(other);
    // Nobody is notified any more, or this would not end.
    told.iter().for_each(|()| {});
}

/// Where the store calls without a hop to another thread.
#[test]
fn calls_are_made_from_threads_that_drive_a_runtime() {
    let Some(subject) = Postgres::fresh() else { return };
    let work = async |token| {
        let engine = subject.open();
        let mut batch = Batch { token: Some(token), ..Batch::default() };
        batch.put("a", "1");
        let version = engine.commit(batch).unwrap();
        let view = engine.snapshot().unwrap();
        assert_eq!(view.get(b"a").unwrap(), Some("1".into()));
        assert_eq!(view.scan(&KeyRange::all(), ScanOptions::default()).count(), 1);
        assert_eq!(engine.outcome(&token).unwrap(), Some(version));
        version
    };
    use tokio::runtime::Builder;
    assert_eq!(Builder::new_current_thread().build().unwrap().block_on(work([1; 16])), 1);
    assert_eq!(
        Builder::new_multi_thread().worker_threads(1).build().unwrap().block_on(work([2; 16])),
        2
    );
}
