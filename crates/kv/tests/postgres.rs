//! The PostgreSQL engine: the suite that every engine has to pass, on a server that this test starts
//! itself.
//!
//! Without an installed server the tests print that they are skipped, unless `CENOTE_REQUIRE_POSTGRES`
//! is set.
#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod postgres_server;

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, mpsc};

use cenote_kv::conformance::Subject;
use cenote_kv::{Batch, CommitError, Engine, Error, KeyRange, PostgresEngine, ScanOptions};

use postgres_server::{Server, fresh_schema};

/// A separate schema on a server shared by the tests of this process.
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

    fn names_the_key(&self) -> bool {
        false
    }
}

cenote_kv::conformance_tests!(match Postgres::fresh() {
    Some(subject) => subject,
    None => return,
});

#[test]
fn an_outcome_of_not_committed_is_final() {
    let Some(subject) = Postgres::fresh() else { return };
    let engine = subject.open();
    assert_eq!(engine.outcome(&[1; 16]).unwrap(), None);
    let mut late = Batch { token: Some([1; 16]), ..Batch::default() };
    late.put("a", "1");
    assert!(engine.commit(late).is_err());
    assert_eq!(engine.snapshot().unwrap().version(), 0);
    assert_eq!(engine.outcome(&[1; 16]).unwrap(), None);
}

/// An engine with few connections, on a server that has few.
fn with_few_connections(server: &Server) -> PostgresEngine {
    let config = server.schema("few");
    PostgresEngine::open_together(&format!("{config} pool_max_conns=6 connect_timeout=1")).unwrap()
}

#[test]
fn many_threads_that_hold_several_snapshots_share_a_few_connections() {
    let Some(server) = Server::start_with("-c max_connections=10") else { return };
    let engine = with_few_connections(&server);
    let work = |thread: usize| {
        for round in 0..10 {
            let outer = engine.snapshot().unwrap();
            let inner = engine.snapshot().unwrap();
            assert!(inner.version() >= outer.version());
            let mut batch = Batch::default();
            batch.put(format!("{thread}-{round}"), "1");
            engine.commit(batch).unwrap();
        }
    };
    std::thread::scope(|scope| (0..24).for_each(|thread| drop(scope.spawn(move || work(thread)))));
    let rows = engine.snapshot().unwrap();
    assert_eq!(rows.scan(&KeyRange::all(), ScanOptions::default()).count(), 240);
}

#[test]
fn a_snapshot_for_which_no_connection_becomes_free_is_refused_in_time() {
    let Some(server) = Server::start_with("") else { return };
    let engine = with_few_connections(&server);
    let held: Vec<_> = std::thread::scope(|scope| {
        let held = [(); 3].map(|()| scope.spawn(|| engine.snapshot().unwrap()));
        held.into_iter().map(|held| held.join().unwrap()).collect()
    });
    let refused = engine.snapshot().unwrap_err().to_string();
    assert!(refused.contains("in use for 1 s (pool_max_conns=6)"), "{refused}");
    let kept: Vec<_> = (0..8).map(|_| engine.snapshot_to_keep().unwrap()).collect();
    let mut batch = Batch::default();
    batch.put("a", "1");
    assert_eq!(engine.commit(batch).unwrap(), 1, "commits have a connection of their own");
    drop((held, kept));
    assert_eq!(engine.snapshot().unwrap().version(), 1);
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

/// Servers of an earlier program, which commit beside this one during a rolling upgrade, keep what they call.
#[test]
fn what_an_earlier_program_commits_by_stays() {
    let Some(subject) = Postgres::fresh() else { return };
    let earlier = "CREATE TYPE cenote_batch AS (seen bigint);
        CREATE FUNCTION cenote_commit(batches cenote_batch[], claimed bytea) RETURNS bigint LANGUAGE sql AS 'SELECT 7::bigint'";
    let mut client = postgres::Client::connect(&subject.config, postgres::NoTls).unwrap();
    client.batch_execute(earlier).unwrap();
    appended(&*subject.open());
    let call = client.prepare("SELECT cenote_commit($1, $2)").unwrap();
    assert_eq!(call.params()[0].name(), "_cenote_batch");
}

#[test]
fn one_server_at_a_time_has_exclusive_use_of_a_catalog() {
    let Some(subject) = Postgres::fresh() else { return };
    let first = PostgresEngine::open_alone(&subject.config).unwrap();
    appended(&first);
    assert!(matches!(PostgresEngine::open_alone(&subject.config), Err(Error::Locked)));
    appended(&first);
    drop(first);
    appended(&PostgresEngine::open_alone(&subject.config).unwrap());
}

#[test]
fn servers_have_a_catalog_together_or_one_has_it_alone() {
    let Some(subject) = Postgres::fresh() else { return };
    let open = || PostgresEngine::open_together(&subject.config);
    let (first, second) = (open().unwrap(), open().unwrap());
    appended(&first);
    appended(&second);
    assert!(matches!(PostgresEngine::open_alone(&subject.config), Err(Error::Locked)));
    drop(first);
    assert!(matches!(PostgresEngine::open_alone(&subject.config), Err(Error::Locked)));
    appended(&second);
    drop(second);
    let alone = PostgresEngine::open_alone(&subject.config).unwrap();
    assert!(matches!(open(), Err(Error::Locked)));
    appended(&alone);
    drop(alone);
    appended(&open().unwrap());
}

#[test]
fn servers_that_lost_their_catalog_to_one_alone_commit_nothing_more() {
    let Some(mut server) = postgres_server::Server::start() else { return };
    let config = server.schema("together");
    let first = PostgresEngine::open_together(&config).unwrap();
    appended(&first);
    server.kill();
    server.ready();
    let alone = PostgresEngine::open_alone(&config).unwrap();
    appended(&alone);
    drop(alone);
    let later = PostgresEngine::open_together(&config).unwrap();
    appended(&later);
    let mut batch = Batch::default();
    batch.put("a", "1");
    let refused = std::iter::repeat_with(|| first.commit(batch.clone()).unwrap_err());
    let refused = refused.take(20).find(|error| matches!(error, CommitError::Latched));
    assert!(refused.is_some());
    appended(&later);
}

#[test]
fn a_server_that_lost_its_catalog_to_another_commits_nothing_more() {
    let Some(mut server) = postgres_server::Server::start() else { return };
    let config = server.schema("alone");
    let first = PostgresEngine::open_alone(&config).unwrap();
    appended(&first);
    server.kill();
    server.ready();
    // Earlier connections may be reused once, and fail.
    let second = PostgresEngine::open_alone(&config).unwrap();
    appended(&second);
    let mut batch = Batch::default();
    batch.put("a", "1");
    let refused = std::iter::repeat_with(|| first.commit(batch.clone()).unwrap_err());
    let refused = refused.take(20).find(|error| matches!(error, CommitError::Latched));
    assert!(refused.is_some());
    assert_eq!(second.snapshot().unwrap().get(b"a").unwrap(), None);
    appended(&second);
}

/// Otherwise it would wait for the snapshot, and all others for it.
#[test]
fn a_catalog_is_opened_while_others_read_it() {
    let Some(subject) = Postgres::fresh() else { return };
    let first = subject.open();
    let reading = first.snapshot().unwrap();
    appended(&*subject.open());
    assert_eq!(reading.version(), 0);
    assert_eq!(first.snapshot().unwrap().version(), 1);
}

fn appended(engine: &dyn Engine) {
    let mut batch = Batch::default();
    batch.append("log", "entry");
    engine.commit(batch).expect("nothing conflicts with it");
}

/// Spurious notifications are allowed, so each wait is for one that has to arrive.
#[test]
fn other_servers_are_notified_of_commits_even_after_the_database_was_killed() {
    let Some(mut server) = postgres_server::Server::start() else { return };
    let config = server.schema("follow");
    let (one, other) =
        (PostgresEngine::open(&config).unwrap(), PostgresEngine::open(&config).unwrap());
    let (notify, notified) = mpsc::channel();
    other.follow(Box::new(move || {
        let _ = notify.send(());
    }));
    notified.recv().unwrap();
    appended(&one);
    notified.recv().unwrap();
    server.kill();
    server.ready();
    notified.recv().unwrap();
    drop(other);
    // The engine no longer notifies anyone, or this would not end.
    notified.iter().for_each(|()| {});
}

/// A server that speaks TLS on a port of this machine, with a certificate for `localhost`; and its port.
fn encrypted_server(dir: &Path) -> Option<(postgres_server::Server, u16)> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (dir.join("cert.pem"), dir.join("key.pem"));
    fs::write(&certificate, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    fs::set_permissions(dir, Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    if postgres_server::is_root() {
        assert!(Command::new("chown").arg("postgres").arg(&key).status().unwrap().success());
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let options = format!(
        "-c listen_addresses=127.0.0.1 -p {port} -c ssl=on -c ssl_cert_file={} -c ssl_key_file={}",
        certificate.display(),
        key.display()
    );
    Some((postgres_server::Server::start_with(&options)?, port))
}

#[test]
fn connections_are_encrypted_and_the_server_is_verified() {
    let dir = tempfile::tempdir().unwrap();
    let Some((server, port)) = encrypted_server(dir.path()) else { return };
    let root = dir.path().join("cert.pem");
    let address = |host: &str, root: &Path| {
        let root = root.display();
        format!("postgres://cenote@{host}:{port}/postgres?sslmode=require&sslrootcert={root}")
    };
    let engine = PostgresEngine::open_alone(&address("localhost", &root)).unwrap();
    appended(&engine);
    let encrypted = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE backend_type = 'client backend' AND client_port >= 0 AND NOT ssl";
    let in_clear: i64 = server.client(port).query_one(encrypted, &[]).unwrap().get(0);
    assert_eq!(in_clear, 0);

    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let wrong = dir.path().join("other.pem");
    fs::write(&wrong, other.cert.pem()).unwrap();
    for refused in [address("localhost", &wrong), address("127.0.0.1", &root)] {
        let error = PostgresEngine::open(&refused).unwrap_err().to_string();
        assert!(error.contains("certificate"), "{error}");
    }
}

/// For calls of the store that do not switch to another thread.
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
