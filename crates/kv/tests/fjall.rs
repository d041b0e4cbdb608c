//! The fjall engine, under the suite that every engine has to pass, and what only an
//! engine with a directory of its own can get wrong.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::path::Path;
use std::sync::Arc;

use cenote_kv::conformance::Subject;
use cenote_kv::{Batch, Engine, Error, FjallEngine, FjallOptions, KeyRange, ScanOptions};
use tempfile::TempDir;

struct Fjall(TempDir);

impl Subject for Fjall {
    fn open(&self) -> Arc<dyn Engine> {
        Arc::new(open(self.0.path()))
    }
}

fn try_open(dir: &Path) -> Result<FjallEngine, Error> {
    FjallEngine::open(dir, FjallOptions { reserve: 0, ..FjallOptions::default() })
}

fn open(dir: &Path) -> FjallEngine {
    try_open(dir).expect("the directory is free")
}

fn put(key: impl Into<bytes::Bytes>, value: impl Into<bytes::Bytes>) -> Batch {
    let mut batch = Batch::default();
    batch.put(key, value);
    batch
}

cenote_kv::conformance_tests!(Fjall(tempfile::tempdir().expect("there is room in /tmp")));

#[test]
fn a_second_engine_on_a_directory_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    assert!(matches!(try_open(dir.path()), Err(Error::Locked)));
    let view = engine.snapshot().unwrap();
    drop(engine);
    // A snapshot still reads the files.
    assert!(matches!(try_open(dir.path()), Err(Error::Locked)));
    drop(view);
    open(dir.path());
}

#[test]
fn a_creation_that_was_killed_is_made_again() {
    let reference = tempfile::tempdir().unwrap();
    drop(open(reference.path()));
    // What fjall makes before its version marker, and with an empty one.
    for marker in [None, Some("")] {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("keyspaces")).unwrap();
        for file in ["lock", "0.jnl"] {
            std::fs::copy(reference.path().join(file), dir.path().join(file)).unwrap();
        }
        if let Some(content) = marker {
            std::fs::write(dir.path().join("version"), content).unwrap();
        }
        open(dir.path()).commit(put("a", "1")).unwrap();
        assert_eq!(open(dir.path()).snapshot().unwrap().version(), 1);
    }
}

#[test]
fn a_directory_that_holds_something_else_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    std::fs::write(dir.path().join("version"), "not a version").unwrap();
    assert!(matches!(try_open(dir.path()), Err(Error::Corrupt(_))));
    assert!(try_open(&dir.path().join("version")).is_err());
}

/// A store with two commits, which put `a` and then `b`, and where the journal has the second.
fn two_commits(b: Vec<u8>) -> (TempDir, usize) {
    let first = tempfile::tempdir().unwrap();
    open(first.path()).commit(put("a", "kept")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    engine.commit(put("a", "kept")).unwrap();
    engine.commit(put("b", b)).unwrap();
    (dir, used(&first.path().join("0.jnl")))
}

/// What there is after the second commit, or without it; and that commits go on.
fn check_version(dir: &Path, version: u64) {
    let engine = open(dir);
    let view = engine.snapshot().unwrap();
    assert_eq!(view.get(b"a").unwrap().unwrap(), "kept");
    assert_eq!((view.version(), view.get(b"b").unwrap().is_some()), (version, version >= 2));
    drop(view);
    assert_eq!(engine.commit(put("c", "after")).unwrap(), version + 1);
    drop(engine);
    assert_eq!(open(dir).snapshot().unwrap().version(), version + 1);
}

/// A torn tail: the file system kept the length that was allocated, or cut the file.
fn tear(journal: &Path, whole: &[u8], end: usize, length: usize) {
    let mut torn = whole[..end].to_vec();
    torn.resize(length, 0);
    std::fs::write(journal, torn).unwrap();
}

#[test]
fn a_torn_tail_of_the_journal_loses_nothing() {
    let (dir, kept) = two_commits(vec![b'x'; 1_000]);
    let files = ["0.jnl", "log"].map(|file| dir.path().join(file));
    let [journal, log] = files.clone().map(|file| std::fs::read(file).unwrap());
    let whole = used(&files[0]);
    for end in [0, kept / 2, kept, kept + 1, (kept + whole) / 2, whole - 1] {
        for length in [journal.len(), end] {
            tear(&files[0], &journal, end, length);
            std::fs::write(&files[1], &log).unwrap();
            check_version(dir.path(), 2);
        }
    }
}

#[test]
fn a_torn_tail_without_a_log_costs_the_batch_that_was_not_acknowledged() {
    let (dir, kept) = two_commits(vec![b'x'; 1_000]);
    let (journal, log) = (dir.path().join("0.jnl"), dir.path().join("log"));
    let (bytes, whole) = (std::fs::read(&journal).unwrap(), used(&journal));
    for end in [kept + 1, kept + 30, (kept + whole) / 2, whole - 1] {
        for length in [bytes.len(), end] {
            tear(&journal, &bytes, end, length);
            std::fs::remove_file(&log).unwrap();
            check_version(dir.path(), 1);
        }
    }
}

/// Bytes that do not repeat, with a page that the disk never got in the middle.
fn make_hole(journal: &Path, after: usize) {
    let mut bytes = std::fs::read(journal).unwrap();
    bytes[after + 10_000..after + 14_096].fill(0);
    std::fs::write(journal, &bytes).unwrap();
}

fn pages() -> Vec<u8> {
    (0..40_000u32).map(|at| (at.wrapping_mul(at) >> 7) as u8).collect()
}

#[test]
fn a_hole_in_the_journal_is_filled_from_the_log() {
    let (_, kept) = two_commits(pages());
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    for (key, value) in [("a", b"kept".to_vec()), ("b", pages()), ("d", vec![1])] {
        engine.commit(put(key, value)).unwrap();
    }
    drop(engine);
    make_hole(&dir.path().join("0.jnl"), kept);
    check_version(dir.path(), 3);
}

#[test]
fn a_hole_in_the_last_batch_costs_that_batch_only() {
    let (dir, kept) = two_commits(pages());
    make_hole(&dir.path().join("0.jnl"), kept);
    std::fs::remove_file(dir.path().join("log")).unwrap();
    check_version(dir.path(), 1);
}

#[test]
fn a_fault_that_the_log_cannot_mend_is_damage_and_stays_as_it_is() {
    let large = vec![7; 1 << 20];
    for logged in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let journal = dir.path().join("0.jnl");
        let engine = open(dir.path());
        engine.commit(put("a", (0..2_000u32).map(|at| at as u8).collect::<Vec<_>>())).unwrap();
        // Synced into the tree itself, with all that came before.
        engine.commit(put("b", large.clone())).unwrap();
        engine.commit(put("c", "acknowledged")).unwrap();
        drop(engine);
        if !logged {
            std::fs::remove_file(dir.path().join("log")).unwrap();
        }
        let mut bytes = std::fs::read(&journal).unwrap();
        bytes[1_000] ^= 1;
        std::fs::write(&journal, &bytes).unwrap();
        assert!(matches!(try_open(dir.path()), Err(Error::Corrupt(_))));
        assert!(std::fs::read(&journal).unwrap() == bytes, "damage is left as it is");
    }
}

#[test]
fn commits_go_on_over_many_rounds_of_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let value = |round: u64| vec![round as u8; 100_000];
    for part in 0..3 {
        let engine = open(dir.path());
        for round in part * 100..(part + 1) * 100 {
            assert_eq!(engine.commit(put(format!("k{round}"), value(round))).unwrap(), round + 1);
        }
    }
    let view = open(dir.path()).snapshot().unwrap();
    for round in 0..300 {
        assert_eq!(view.get(format!("k{round}").as_bytes()).unwrap().unwrap(), value(round));
    }
}

/// Values that are kept apart and replaced often, so that their files are rewritten.
#[test]
fn large_values_survive_being_replaced_and_merged() {
    let dir = tempfile::tempdir().unwrap();
    let value = |key: u32, round: u32| {
        let line = format!("line of key {key} in round {round}, which compresses well\n");
        line.repeat(1_000 + (key % 50) as usize * 40)
    };
    for round in 0..12 {
        let engine = open(dir.path());
        let mut batch = Batch::default();
        // Each key is replaced in a different number of rounds; some are removed at last.
        for key in (0..300).filter(|key| key % (1 + round) == 0) {
            batch.put(format!("{key:03}"), value(key, round));
        }
        engine.commit(batch).unwrap();
    }
    let view = open(dir.path()).snapshot().unwrap();
    for key in 0..300 {
        let last = (0..12).rev().find(|round| key % (1 + round) == 0).unwrap();
        let found = view.get(format!("{key:03}").as_bytes()).unwrap().unwrap();
        assert!(found == value(key, last), "key {key}");
    }
}

/// Bytes of a preallocated journal up to its last that is not zero.
fn used(journal: &Path) -> usize {
    let bytes = std::fs::read(journal).expect("the journal is there");
    bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}

#[test]
fn snapshots_hold_while_tables_are_flushed_and_merged() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    for key in 0..200u32 {
        engine.commit(put(format!("k{key:03}"), "old")).unwrap();
    }
    let view = engine.snapshot().unwrap();
    // Several memtables' worth of changes to the same keys, and every other key removed.
    for round in 0..40u32 {
        let mut batch = Batch::default();
        for key in 0..200u32 {
            match key % 2 {
                0 => batch.put(format!("k{key:03}"), vec![round as u8; 16_000]),
                _ => batch.delete(format!("k{key:03}")),
            };
        }
        engine.commit(batch).unwrap();
    }
    let rows: Result<Vec<_>, _> = view.scan(&KeyRange::all(), ScanOptions::default()).collect();
    let rows = rows.unwrap();
    assert_eq!(rows.len(), 200);
    assert!(rows.iter().all(|(_, value)| value == "old"));
    assert!((0..200).all(|key| view.get(format!("k{key:03}").as_bytes()).unwrap().is_some()));
}

#[test]
fn a_reserve_is_held_back_and_kept_over_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let options = FjallOptions { reserve: 1 << 20, ..FjallOptions::default() };
    for _ in 0..2 {
        let engine = FjallEngine::open(dir.path(), options).unwrap();
        engine.commit(put("a", "1")).unwrap();
        assert_eq!(std::fs::metadata(dir.path().join("reserve")).unwrap().len(), 1 << 20);
    }
}
