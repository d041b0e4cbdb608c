//! A failure after each step of a commit, then a restart: acknowledged commits are present, refused ones are not, and
//! unknown ones are applied completely or not at all. Also with a simultaneous power cut, and with the end of the
//! process.
//!
//! The test starts this binary again as the role `writer`, which does nothing in an ordinary run.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use cenote_kv::{Batch, CommitError, Engine, Error, FjallEngine, FjallOptions, Step};

/// The directory for the role of the writer, and the number of the case.
const DIRECTORY: &str = "CENOTE_TEST_DIRECTORY";
const CASE: &str = "CENOTE_TEST_CASE";

/// A step, and the bytes of a commit that passes it. Groups of more than 256 KiB, which three writers cannot form with
/// 60,000 bytes each, take another path.
const CASES: [(Step, usize); 9] = [
    (Step::Begin, 1_000),
    (Step::Logged, 1_000),
    (Step::LogSynced, 1_000),
    (Step::Written, 1_000),
    (Step::LogFull, 60_000),
    (Step::Begin, 300_000),
    (Step::Written, 300_000),
    (Step::Logged, 300_000),
    (Step::LogSynced, 300_000),
];

/// The outcome of a commit at the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Failure,
    Panic,
    Kill,
}

/// The result returned to the writer of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommitOutcome {
    Acknowledged,
    Refused,
    Unknown,
}

type History = BTreeMap<u64, CommitOutcome>;

const WRITERS: u64 = 3;

/// One test at a time: a process that is being started inherits the open files of all tests, and with them the lock of
/// an engine that another test has just closed.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn open(dir: &Path) -> FjallEngine {
    FjallEngine::open(dir, FjallOptions { reserve: 0, ..FjallOptions::default() }).unwrap()
}

/// An engine whose commits fail at the step: each one that reaches it, after some that pass.
fn failing(dir: &Path, (step, _): (Step, usize), end: End) -> FjallEngine {
    let reached = AtomicU64::new(0);
    open(dir).with_steps(move |now| {
        if now != step || (step != Step::LogFull && reached.fetch_add(1, Ordering::SeqCst) < 5) {
            return true;
        }
        match end {
            End::Failure => false,
            End::Panic => panic!("a leader fell"),
            End::Kill => std::process::abort(),
        }
    })
}

fn batch(n: u64, size: usize) -> Batch {
    let mut batch = Batch { token: Some(token(n)), ..Batch::default() };
    let value = vec![n as u8; size / 2];
    batch.put(format!("left/{n}"), value.clone()).put(format!("right/{n}"), value).add("n", 1);
    batch
}

fn token(n: u64) -> [u8; 16] {
    u128::from(n + 1).to_be_bytes()
}

fn commit_outcome(engine: &FjallEngine, n: u64, size: usize) -> CommitOutcome {
    let answer = catch_unwind(AssertUnwindSafe(|| engine.commit(batch(n, size))));
    match answer {
        Ok(Ok(_)) => CommitOutcome::Acknowledged,
        Ok(Err(CommitError::Unknown(_))) | Err(_) => CommitOutcome::Unknown,
        Ok(Err(_)) => CommitOutcome::Refused,
    }
}

/// Each writer commits until the result is anything but success, and then once more.
fn write(engine: &FjallEngine, size: usize, record: impl Fn(u64, CommitOutcome) + Sync) {
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let record = &record;
            scope.spawn(move || {
                let mut numbers = (0u64..).map(|n| n * WRITERS + writer);
                for n in numbers.by_ref() {
                    let answer = commit_outcome(engine, n, size);
                    record(n, answer);
                    if answer != CommitOutcome::Acknowledged {
                        break;
                    }
                }
                let n = numbers.next().unwrap();
                record(n, commit_outcome(engine, n, size));
            });
        }
    });
}

fn played(dir: &Path, case: (Step, usize), end: End) -> History {
    let engine = failing(dir, case, end);
    let history = Mutex::new(History::new());
    write(&engine, case.1, |n, outcome| {
        history.lock().unwrap().insert(n, outcome);
    });
    let history = history.into_inner().unwrap();
    assert!(
        history.values().any(|outcome| *outcome != CommitOutcome::Acknowledged),
        "{case:?} {end:?}"
    );
    assert!(matches!(engine.commit(Batch::default()), Err(CommitError::Latched)));
    for (n, reported) in &history {
        let outcome = engine.outcome(&token(*n));
        match reported {
            CommitOutcome::Acknowledged => assert!(outcome.unwrap().is_some()),
            // A commit must not be reported as failed while the log may contain it.
            CommitOutcome::Unknown => {
                assert!(matches!(outcome, Ok(Some(_)) | Err(Error::Undecided)))
            }
            CommitOutcome::Refused => {}
        }
    }
    history
}

/// Compares the state with the reported results; returns the state.
fn judge(engine: &FjallEngine, history: &History, context: &str) -> Vec<u64> {
    let view = engine.snapshot().unwrap();
    let there = |n: &u64| {
        let [left, right] =
            ["left", "right"].map(|side| view.get(format!("{side}/{n}").as_bytes()).unwrap());
        assert_eq!(left, right, "{context}: {n} is half there");
        left.is_some()
    };
    for (n, reported) in history {
        match reported {
            CommitOutcome::Acknowledged => assert!(there(n), "{context}: {n} was acknowledged"),
            CommitOutcome::Refused => assert!(!there(n), "{context}: {n} was refused"),
            CommitOutcome::Unknown => {
                let kept = engine.outcome(&token(*n)).unwrap();
                assert_eq!(kept.is_some(), there(n), "{context}: {n} has another outcome");
            }
        }
    }
    let found: Vec<u64> = history.keys().copied().filter(there).collect();
    let count = view.get(b"n").unwrap().map_or(0, |value| cenote_kv::counter(&value));
    assert_eq!(count as usize, found.len(), "{context}: the counter");
    found
}

/// The directory after a restart, and after another one; commits continue, and nothing changes otherwise.
fn judge_restarts(dir: &Path, history: &History, context: &str) {
    let engine = open(dir);
    let found = judge(&engine, history, context);
    let next = 1_000_000;
    assert_eq!(commit_outcome(&engine, next, 1_000), CommitOutcome::Acknowledged, "{context}");
    drop(engine);
    let mut history = history.clone();
    history.insert(next, CommitOutcome::Acknowledged);
    let again = judge(&open(dir), &history, &format!("{context}, again"));
    assert_eq!(again, [found, vec![next]].concat(), "{context}");
}

#[test]
fn a_failure_after_any_step_preserves_what_was_reported() {
    let _alone = alone();
    for case in CASES {
        for end in [End::Failure, End::Panic] {
            let dir = tempfile::tempdir().unwrap();
            let history = played(dir.path(), case, end);
            judge_restarts(dir.path(), &history, &format!("{case:?} {end:?}"));
        }
    }
}

/// The journal from before all commits: the state after a power cut if nothing was synced.
#[test]
fn a_power_cut_after_a_failure_preserves_what_was_reported() {
    let _alone = alone();
    for case in CASES.into_iter().filter(|(_, size)| *size == 1_000) {
        for end in [End::Failure, End::Panic] {
            let dir = tempfile::tempdir().unwrap();
            drop(open(dir.path()));
            let journal = dir.path().join("0.jnl");
            let before = std::fs::read(&journal).unwrap();
            let history = played(dir.path(), case, end);
            std::fs::write(&journal, before).unwrap();
            judge_restarts(dir.path(), &history, &format!("{case:?} {end:?}, power cut"));
        }
    }
}

/// Commits until a step ends the process, and prints what was acknowledged.
#[test]
fn writer() {
    let Some(dir) = std::env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let case = CASES[std::env::var(CASE).unwrap().parse::<usize>().unwrap()];
    let output = Mutex::new(std::io::stdout());
    write(&failing(&dir, case, End::Kill), case.1, |n, outcome| {
        assert_eq!(outcome, CommitOutcome::Acknowledged);
        writeln!(output.lock().unwrap(), "acknowledged {n}").unwrap();
    });
}

/// The acknowledged batches of a writer until it ended; the outcome of the batch after the last one of each is
/// unknown.
fn killed(dir: &Path, case: usize) -> History {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "writer", "--nocapture"])
        .env(DIRECTORY, dir)
        .env(CASE, case.to_string());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut history: History = (0..WRITERS).map(|n| (n, CommitOutcome::Unknown)).collect();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in lines.map_while(Result::ok) {
        let Some((_, n)) = line.split_once("acknowledged ") else { continue };
        let n: u64 = n.parse().unwrap();
        history.extend([(n, CommitOutcome::Acknowledged), (n + WRITERS, CommitOutcome::Unknown)]);
    }
    assert!(!child.wait().unwrap().success(), "{:?} was never reached", CASES[case]);
    history
}

#[test]
fn a_kill_after_any_step_preserves_what_was_reported() {
    let _alone = alone();
    for (n, case) in CASES.iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        let history = killed(dir.path(), n);
        judge_restarts(dir.path(), &history, &format!("{case:?} killed"));
    }
}
