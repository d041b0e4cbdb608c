//! A database that says nothing any more, and does not close its connections either: behind a proxy that holds back what is sent.
#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod postgres_server;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use cenote_kv::{Batch, CommitError, Engine, PostgresEngine, ScanOptions};
use cenote_kv::{KeyRange, Token};

use postgres_server::Server;

/// What is held back: the bytes that go in these directions, of the connections numbered below `connections`.
#[derive(Debug, Default, Clone, Copy)]
struct Blocked {
    connections: usize,
    questions: bool,
    answers: bool,
}

/// A proxy before a database.
#[derive(Debug)]
struct Proxy {
    port: u16,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    blocked: Mutex<Blocked>,
    changed: Condvar,
    accepted: Mutex<usize>,
}

impl Proxy {
    fn before(server: &Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let socket = PathBuf::from(server.dir()).join(".s.PGSQL.5432");
        let state = Arc::new(State::default());
        let own = state.clone();
        thread::spawn(move || {
            for client in listener.incoming() {
                // The database was stopped at the end of a test.
                let Ok(database) = UnixStream::connect(&socket) else { return };
                own.relay(client.unwrap(), database);
            }
        });
        Self { port, state }
    }

    fn block(&self, connections: usize, questions: bool, answers: bool) {
        *self.state.blocked.lock().unwrap() = Blocked { connections, questions, answers };
        self.state.changed.notify_all();
    }

    /// Everything, also of connections that will be made.
    fn hang(&self) {
        self.block(usize::MAX, true, true);
    }

    /// How many connections there were so far.
    fn accepted(&self) -> usize {
        *self.state.accepted.lock().unwrap()
    }

    /// Passes on what was held back.
    fn resume(&self) {
        self.block(0, false, false);
    }
}

impl State {
    fn relay(self: &Arc<Self>, client: TcpStream, database: UnixStream) {
        let number = *self.accepted.lock().unwrap();
        *self.accepted.lock().unwrap() += 1;
        client.set_nodelay(true).unwrap();
        let (requests, answers) = (client.try_clone().unwrap(), database.try_clone().unwrap());
        let (own, other) = (self.clone(), self.clone());
        thread::spawn(move || own.pass(requests, database, |blocked| blocked.questions, number));
        thread::spawn(move || other.pass(answers, client, |blocked| blocked.answers, number));
    }

    fn pass(
        &self,
        mut from: impl Read,
        mut to: impl Write,
        is_blocked: fn(&Blocked) -> bool,
        number: usize,
    ) {
        let mut bytes = [0; 4_096];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            let blocked = self.blocked.lock().unwrap();
            let waits = |blocked: &mut Blocked| number < blocked.connections && is_blocked(blocked);
            drop(self.changed.wait_while(blocked, waits).unwrap());
            if to.write_all(&bytes[..count]).is_err() {
                return;
            }
        }
    }
}

/// An engine that waits two seconds for an answer.
fn behind_a_proxy() -> Option<(Server, Proxy, PostgresEngine)> {
    let server = Server::start()?;
    let proxy = Proxy::before(&server);
    let through = format!("host=127.0.0.1 port={}", proxy.port);
    let config = server.schema("hangs").replace(&format!("host={}", server.dir()), &through);
    let config = format!("{config} connect_timeout=2 query_timeout=2");
    let engine = PostgresEngine::open_together(&config).unwrap();
    Some((server, proxy, engine))
}

fn put(key: &'static str, token: Token) -> Batch {
    let mut batch = Batch { token: Some(token), ..Batch::default() };
    batch.put(key, "1");
    batch
}

fn keys(engine: &PostgresEngine) -> Vec<String> {
    let view = engine.snapshot().unwrap();
    let rows = view.scan(&KeyRange::all(), ScanOptions::default());
    rows.map(|row| String::from_utf8(row.unwrap().0.into()).unwrap()).collect()
}

#[test]
fn reads_of_a_database_that_hangs_fail_in_time() {
    let Some((_server, proxy, engine)) = behind_a_proxy() else { return };
    engine.commit(put("a", [1; 16])).unwrap();
    let [view, other] = [(); 2].map(|()| engine.snapshot().unwrap());
    proxy.hang();
    let failed = view.get(b"a").unwrap_err().to_string();
    assert!(failed.contains("did not answer within 2 s (query_timeout)"), "{failed}");
    assert!(other.scan(&KeyRange::all(), ScanOptions::default()).next().unwrap().is_err());
    let failed = engine.snapshot().unwrap_err().to_string();
    assert!(failed.contains("did not answer within 2 s (connect_timeout)"), "{failed}");
    proxy.resume();
    // A snapshot is of one transaction, which has ended.
    assert!(view.get(b"a").is_err());
    assert_eq!(keys(&engine), ["a"]);
}

#[test]
fn commits_to_a_database_that_hangs_end_and_those_after_it_are_made() {
    let Some((_server, proxy, engine)) = behind_a_proxy() else { return };
    engine.commit(put("a", [1; 16])).unwrap();
    proxy.hang();
    let all: Vec<_> = thread::scope(|scope| {
        let commit = |number: u8| {
            scope.spawn({
                let engine = &engine;
                move || engine.commit(put("b", [number; 16]))
            })
        };
        let all: Vec<_> = (2..8).map(commit).collect();
        all.into_iter().map(|commit| commit.join().unwrap()).collect()
    });
    let is_of_its_kind =
        |error: &CommitError| matches!(error, CommitError::Unknown(_) | CommitError::Engine(_));
    assert!(all.iter().all(|answer| answer.as_ref().is_err_and(is_of_its_kind)), "{all:?}");
    engine.outcome(&[2; 16]).unwrap_err();
    proxy.resume();
    for number in 2..8 {
        engine.outcome(&[number; 16]).unwrap();
    }
    engine.commit(put("c", [9; 16])).unwrap();
    assert!(keys(&engine).contains(&"c".to_owned()));
}

/// It arrives after the question what became of it, which is final.
#[test]
fn a_commit_that_arrives_when_nobody_waits_for_it_any_more_is_not_made() {
    let Some((_server, proxy, engine)) = behind_a_proxy() else { return };
    engine.commit(put("a", [1; 16])).unwrap();
    proxy.block(proxy.accepted(), true, false);
    let unknown = engine.commit(put("late", [2; 16]));
    assert!(matches!(unknown, Err(CommitError::Unknown(_))), "{unknown:?}");
    assert_eq!(engine.outcome(&[2; 16]).unwrap(), None);
    proxy.resume();
    engine.commit(put("b", [3; 16])).unwrap();
    assert_eq!(engine.outcome(&[2; 16]).unwrap(), None);
    assert_eq!(keys(&engine), ["a", "b"]);
}

#[test]
fn a_commit_whose_answer_does_not_come_was_made() {
    let Some((_server, proxy, engine)) = behind_a_proxy() else { return };
    engine.commit(put("a", [1; 16])).unwrap();
    proxy.block(proxy.accepted(), false, true);
    let unknown = engine.commit(put("b", [2; 16]));
    assert!(matches!(unknown, Err(CommitError::Unknown(_))), "{unknown:?}");
    assert_eq!(engine.outcome(&[2; 16]).unwrap(), Some(2));
    assert_eq!(keys(&engine), ["a", "b"]);
}
