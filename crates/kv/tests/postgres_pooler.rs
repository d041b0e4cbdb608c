//! The PostgreSQL engine behind PgBouncer, which this test starts for itself.
//!
//! Without an installed server and PgBouncer the tests say so and pass, unless `CENOTE_REQUIRE_POSTGRES` is set.
#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod postgres_server;

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use cenote_kv::{Batch, Engine, Error, PostgresEngine};
use postgres_server::{Server, unprivileged};

/// A pooler in front of a server of its own.
struct Pooler {
    process: Child,
    dir: tempfile::TempDir,
    _server: Server,
}

impl Pooler {
    /// Gives sessions away as `mode` says; none if there is nothing to start.
    fn start(mode: &str) -> Option<Self> {
        if !is_installed() {
            return None;
        }
        let server = Server::start()?;
        let dir = tempfile::tempdir().unwrap();
        // The user of the pooler is another one if this is root.
        fs::set_permissions(&dir, Permissions::from_mode(0o777)).unwrap();
        let settings = dir.path().join("pgbouncer.ini");
        fs::write(&settings, settings_of(&server, dir.path().to_str().unwrap(), mode)).unwrap();
        let run = r#"PATH=$PATH:/usr/sbin exec pgbouncer "$0" 2>&1"#;
        let mut command = unprivileged();
        command.args(["-c", run]).arg(settings).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("process up")), "PgBouncer did not start");
        // Its words are taken, or it would be stopped by them.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { process, dir, _server: server })
    }

    fn config(&self) -> String {
        format!("host={} port=6432 user=cenote dbname=postgres", self.dir.path().display())
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn settings_of(server: &Server, dir: &str, mode: &str) -> String {
    let host = server.dir();
    format!(
        "[databases]\npostgres = host={host} user=cenote\n[pgbouncer]\nlisten_addr =\nlisten_port = 6432\n\
         unix_socket_dir = {dir}\nauth_type = any\npool_mode = {mode}\n"
    )
}

fn is_installed() -> bool {
    let mut found = Command::new("sh");
    let found = found.args(["-c", "PATH=$PATH:/usr/sbin command -v pgbouncer"]);
    let found = found.stdout(Stdio::null()).status().unwrap().success();
    let missing = "no pgbouncer: install the package `pgbouncer`";
    assert!(found || std::env::var_os("CENOTE_REQUIRE_POSTGRES").is_none(), "{missing}");
    if !found {
        eprintln!("SKIPPED, NOT TESTED: {missing}");
    }
    found
}

#[test]
fn a_pooler_that_gives_sessions_away_is_refused() {
    let Some(pooler) = Pooler::start("transaction") else { return };
    for open in [PostgresEngine::open, PostgresEngine::open_alone, PostgresEngine::open_together] {
        let refused = open(&pooler.config()).unwrap_err().to_string();
        assert!(refused.contains("pool_mode = session"), "{refused}");
    }
}

#[test]
fn a_pooler_that_keeps_sessions_is_used() {
    let Some(pooler) = Pooler::start("session") else { return };
    let engine = PostgresEngine::open_alone(&pooler.config()).unwrap();
    let mut batch = Batch::default();
    batch.put("a", "1").append("log", "entry");
    assert_eq!(engine.commit(batch).unwrap(), 1);
    assert_eq!(engine.snapshot().unwrap().get(b"a").unwrap(), Some("1".into()));
    assert!(matches!(PostgresEngine::open_alone(&pooler.config()), Err(Error::Locked)));
}
