//! Power cuts: a process commits on a disk of which every write and sync is recorded; from the record, possible states
//! of the disk after a cut at any point are made. Each can be opened, and has every acknowledged commit completely; an
//! unacknowledged one is present completely or not at all.
//!
//! `CENOTE_CRASH_ROUNDS` sets the number of cuts to try; they can be repeated with the seed that a failure prints
//! (`CENOTE_CRASH_SEED`), for the same trace.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

#[path = "disk/cut.rs"]
mod cut;
#[path = "disk/dice.rs"]
mod dice;
#[path = "disk/image.rs"]
mod image;
#[path = "disk/trace.rs"]
mod trace;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};
use std::thread;

use cenote_kv::{Batch, Engine, Error, FjallEngine, FjallOptions, Snapshot};

use crate::cut::Disk;
use crate::dice::Dice;
use crate::trace::Op;

/// The directory for the role of the writer.
const DIRECTORY: &str = "CENOTE_TEST_DIRECTORY";
const WRITERS: u64 = 3;
/// The number of commits of a writer: enough to fill the log once.
const COMMITS: u64 = 110;
/// Tables are written after each so many commits of the first writer, so that they are also merged, and the journal is
/// shortened when the catalog is opened again.
const FLUSHED_EACH: u64 = 8;

fn try_open(dir: &Path) -> Result<FjallEngine, Error> {
    FjallEngine::open(dir, FjallOptions { reserve: 0, ..FjallOptions::default() })
}

/// The bytes of a commit.
fn value(n: u64) -> &'static [u8] {
    static VALUES: LazyLock<Vec<Vec<u8>>> =
        LazyLock::new(|| (0..COMMITS * WRITERS).map(make_value).collect());
    &VALUES[n as usize]
}

/// Most are small, some are too large for the log.
fn make_value(n: u64) -> Vec<u8> {
    let mut dice = Dice::new(&[n]);
    let size = match dice.below(40) {
        0 => 300_000,
        1..=12 => 20_000 + dice.below(40_000),
        _ => dice.below(3_000),
    };
    (0..size.div_ceil(8)).flat_map(|at| (n + at * at).to_le_bytes()).collect()
}

fn batch(n: u64) -> Batch {
    let mut batch = Batch::default();
    batch.put(format!("left/{n}"), value(n)).put(format!("right/{n}"), value(n)).add("n", 1);
    // The former value is dropped by a merge.
    batch.put(format!("last/{}", n % WRITERS), value(n));
    batch
}

/// Commits, prints the acknowledged ones, and reopens the catalog in between.
#[test]
fn writer() {
    let Some(dir) = std::env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let output = Mutex::new(std::io::stdout());
    for part in 0..2 {
        let engine = try_open(&dir).unwrap();
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (engine, output) = (&engine, &output);
                scope.spawn(move || {
                    for n in
                        (part * COMMITS / 2..(part + 1) * COMMITS / 2).map(|n| n * WRITERS + writer)
                    {
                        engine.commit(batch(n)).unwrap();
                        if n % (FLUSHED_EACH * WRITERS) == 0 {
                            engine.flush().unwrap();
                        }
                        writeln!(output.lock().unwrap(), "\nacknowledged {n}").unwrap();
                    }
                });
            }
        });
    }
}

fn recorded(dir: &Path) -> Vec<Op> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "writer", "--nocapture"]).env(DIRECTORY, dir.join("catalog"));
    trace::record(&mut command, dir)
}

/// The commit that an operation acknowledges.
fn acknowledged(op: &Op) -> Option<u64> {
    let Op::Print(bytes) = op else { return None };
    std::str::from_utf8(bytes).ok()?.trim().strip_prefix("acknowledged ")?.parse().ok()
}

/// The failure of the catalog; `None` if every acknowledged commit is present, and all others are atomic.
fn fault(dir: &Path, acknowledged: &BTreeSet<u64>) -> Option<String> {
    let engine = match try_open(dir) {
        Ok(engine) => engine,
        Err(error) => return Some(error.to_string()),
    };
    let view = engine.snapshot().unwrap();
    let mut count = 0;
    for n in 0..COMMITS * WRITERS {
        match there(&*view, n) {
            Ok(true) => count += 1,
            Ok(false) if acknowledged.contains(&n) => return Some(format!("{n} is lost")),
            Ok(false) => {}
            Err(fault) => return Some(fault),
        }
    }
    let counter = view.get(b"n").unwrap().map_or(0, |value| cenote_kv::counter(&value));
    (counter != count).then(|| format!("{counter} is counted, {count} are there"))
}

/// Whether a commit is present completely.
fn there(view: &dyn Snapshot, n: u64) -> Result<bool, String> {
    let side =
        |name: &str| view.get(format!("{name}/{n}").as_bytes()).map_err(|error| error.to_string());
    match (side("left")?, side("right")?) {
        (None, None) => Ok(false),
        (Some(left), Some(right)) if left == right && left == value(n) => Ok(true),
        _ => Err(format!("{n} is not whole")),
    }
}

fn is_shorter_journal(op: &Op) -> bool {
    matches!(op, Op::Rename(from, _) if from.extension().is_some_and(|end| end == "shorter"))
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Cuts the power `cuts` times; returns the failures.
fn faults(mut disk: Disk, ops: &[Op], cuts: u64) -> Vec<String> {
    let seed = number("CENOTE_CRASH_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    let scratch = image::scratch();
    let mut dice = Dice::new(&[seed]);
    let mut points: Vec<usize> =
        (0..cuts).map(|_| dice.below(ops.len() as u64 + 1) as usize).collect();
    points.sort_unstable();
    let (mut done, mut seen, mut faults) = (0, BTreeSet::new(), Vec::new());
    for point in points {
        for op in &ops[done..point] {
            disk.play(op);
            seen.extend(acknowledged(op));
        }
        done = point;
        disk.cut(&mut dice).restore(scratch.path());
        let catalog = scratch.path().join("catalog");
        let fault = catch_unwind(AssertUnwindSafe(|| fault(&catalog, &seen)))
            .unwrap_or_else(|_| Some("a panic".to_owned()));
        faults.extend(
            fault.map(|fault| format!("seed {seed}, cut at {point} of {}: {fault}", ops.len())),
        );
    }
    println!("{cuts} power cuts in {} operations, {} faults", ops.len(), faults.len());
    faults
}

#[test]
fn every_acknowledged_commit_survives_a_power_cut() {
    let dir = image::scratch();
    let disk = Disk::of(dir.path());
    let ops = recorded(dir.path());
    assert_eq!(ops.iter().filter_map(acknowledged).count() as u64, COMMITS * WRITERS);
    assert!(ops.iter().any(is_shorter_journal));
    let cuts = number("CENOTE_CRASH_ROUNDS").unwrap_or(100);
    let found = faults(disk.clone(), &ops, cuts);
    assert!(found.is_empty(), "{}", found.join("\n"));
    // The test would detect a disk that does not sync.
    assert!(!faults(disk.ignoring_syncs(), &ops, 20).is_empty());
}
