//! The same kills with the catalog in PostgreSQL: of the process that writes, and of the database under it.

#[path = "../../../kv/tests/postgres_server/mod.rs"]
mod postgres_server;

use tempfile::TempDir;

use self::postgres_server::Server;
use crate::{Dice, POSTGRES, kill_after, number, prepare, start, verify, watch};

/// The number of changes that the writer may make after a kill of the database.
const MORE: u64 = 30;

/// Runs `round` the requested number of times, by default twice: with a server, the directory of a store on it, the
/// number of the round and the seed.
fn rounds(mut round: impl FnMut(&mut Server, &TempDir, u64, u64)) {
    let Some(mut server) = Server::start() else { return };
    let seed = number("CENOTE_CRASH_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    for number in 0..number("CENOTE_CRASH_ROUNDS").unwrap_or(2) {
        let dir = tempfile::tempdir().unwrap();
        let config = server.schema(&format!("round{number}"));
        std::fs::write(dir.path().join(POSTGRES), config).unwrap();
        prepare(dir.path(), 0);
        round(&mut server, &dir, number, seed ^ number);
    }
}

#[test]
fn every_change_acknowledged_over_postgres_survives_a_kill() {
    rounds(|_, dir, round, seed| {
        let enough = 1 + Dice::new(&[seed, round]).below(100);
        let done = kill_after(start(dir.path(), 0, seed), enough);
        verify(dir.path(), 0, seed, &done);
    });
}

#[test]
fn every_acknowledged_change_survives_a_kill_of_postgres() {
    rounds(|server, dir, round, seed| {
        let enough = 1 + Dice::new(&[seed, round]).below(100);
        let child = start(dir.path(), 0, seed);
        let done = watch(child, enough, |child, seen| match seen {
            _ if seen == enough => server.kill(),
            _ if seen == enough + MORE => child.kill().unwrap(),
            _ => {}
        });
        server.ready();
        verify(dir.path(), 0, seed, &done);
    });
}
