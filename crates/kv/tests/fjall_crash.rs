//! What survives `kill -9` and a failed write, in a separate process.
//!
//! A test starts this binary again with the name of one of the roles below and a directory in
//! the environment; without the directory a role does nothing.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;

use cenote_kv::{
    Batch, CommitError, Engine, Error, FjallEngine, FjallOptions, KeyRange, ScanOptions, Snapshot,
    counter,
};

const DIRECTORY: &str = "CENOTE_TEST_DIRECTORY";

fn open(dir: &Path) -> FjallEngine {
    FjallEngine::open(dir, FjallOptions { reserve: 0, ..FjallOptions::default() })
        .expect("the store opens")
}

/// The directory for a role; `None` in an ordinary run of the tests.
fn directory() -> Option<PathBuf> {
    std::env::var_os(DIRECTORY).map(PathBuf::from)
}

/// The command that runs `role` in `dir`, through `wrapper`.
fn role(wrapper: &[&str], role: &str, dir: &Path) -> Command {
    let this = std::env::current_exe().expect("a test knows its program");
    let mut words = wrapper.iter().map(Into::into).chain([this.into_os_string()]);
    let mut command = Command::new(words.next().expect("there is at least this program"));
    command.args(words).args(["--exact", role, "--nocapture"]).env(DIRECTORY, dir);
    command
}

/// Bytes that do not compress.
fn noise(size: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let next = std::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some((state >> 32) as u8)
    });
    next.take(size).collect()
}

const WRITERS: u64 = 4;

/// Commits until it is killed, and prints each version once it is acknowledged.
#[test]
fn writer() {
    let Some(dir) = directory() else { return };
    let engine = open(&dir);
    let output = Mutex::new(std::io::stdout());
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (engine, output) = (&engine, &output);
            scope.spawn(move || {
                for round in 0..100_000u64 {
                    let mut batch = Batch::default();
                    batch.append("log/", format!("{writer} {round}")).add("n", 1);
                    batch.put(format!("left/{writer}"), noise(6_000, round));
                    batch.put(format!("right/{writer}"), noise(6_000, round));
                    let version = engine.commit(batch).expect("nothing fails before the kill");
                    writeln!(output.lock().expect("no writer panics"), "acknowledged {version}")
                        .expect("the reader lives longer");
                }
            });
        }
    });
}

/// The versions acknowledged by `child`, which is killed once there are `enough`.
fn kill_after(mut child: Child, enough: usize) -> BTreeSet<u64> {
    let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let mut seen = BTreeSet::new();
    for line in lines.map_while(Result::ok) {
        seen.extend(
            line.strip_prefix("acknowledged ").and_then(|version| version.parse::<u64>().ok()),
        );
        if seen.len() == enough {
            child.kill().expect("it runs until it is killed");
        }
    }
    child.wait().expect("it was killed");
    seen
}

/// Checks that every commit is complete: as many log entries as versions, which equals the counter,
/// and both values of a pair are equal.
fn assert_whole(view: &dyn Snapshot) {
    let log = view.scan(&KeyRange::prefix("log/"), ScanOptions::default());
    let log: Vec<_> = log.collect::<Result<_, _>>().expect("the log reads");
    assert_eq!(log.len() as u64, view.version());
    let count = view.get(b"n").expect("the counter reads").map_or(0, |value| counter(&value));
    assert_eq!(count as u64, view.version());
    for writer in 0..WRITERS {
        let side = |name: &str| view.get(format!("{name}/{writer}").as_bytes()).expect("it reads");
        assert!(side("left") == side("right"));
    }
}

#[test]
fn no_acknowledged_commit_is_lost_by_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let rounds = std::env::var("CENOTE_CRASH_ROUNDS").map_or(8, |n| n.parse().unwrap());
    for round in 0..rounds {
        let child = role(&[], "writer", dir.path()).stdout(Stdio::piped()).spawn().unwrap();
        // From the first commits to past the first flush of a memtable.
        let acknowledged = kill_after(child, 1 + (round * 397) % 1_700);
        let engine = open(dir.path());
        let view = engine.snapshot().unwrap();
        assert!(!acknowledged.is_empty());
        assert!(acknowledged.last().is_some_and(|last| *last <= view.version()));
        assert_whole(&*view);
    }
}

/// Three commits of 30 MB, on a journal that may not grow past 64 MiB.
#[test]
fn writer_at_a_limit() {
    let Some(dir) = directory() else { return };
    let engine = open(&dir);
    let large = |at: u8| {
        let mut batch = Batch { token: Some([at; 16]), ..Batch::default() };
        for half in 0..2 {
            batch.put(format!("{at}{half}"), noise(15 << 20, u64::from(at) * 2 + half));
        }
        batch
    };
    assert_eq!(engine.commit(large(1)).unwrap(), 1);
    assert_eq!(engine.commit(large(2)).unwrap(), 2);
    assert!(matches!(engine.commit(large(3)), Err(CommitError::Unknown(_))));
    assert!(matches!(engine.commit(Batch::default()), Err(CommitError::Latched)));
    assert!(matches!(engine.outcome(&[3; 16]), Err(Error::Undecided)));
    assert_eq!(engine.outcome(&[2; 16]).unwrap(), Some(2));
    let view = engine.snapshot().unwrap();
    assert_eq!(view.version(), 2);
    assert!(view.get(b"20").unwrap().is_some() && view.get(b"30").unwrap().is_none());
}

#[test]
fn a_failed_write_latches_and_reads_continue() {
    let dir = tempfile::tempdir().unwrap();
    // In blocks of 512 bytes; an ignored signal makes the write fail instead.
    let limited = ["sh", "-c", "trap '' XFSZ; ulimit -f 131072; exec \"$0\" \"$@\""];
    let status = role(&limited, "writer_at_a_limit", dir.path()).status().unwrap();
    assert!(status.success());
    let engine = open(dir.path());
    assert_eq!(engine.snapshot().unwrap().version(), 2);
    assert_eq!(engine.outcome(&[3; 16]).unwrap(), None);
    assert_eq!(engine.commit(Batch::default()).unwrap(), 3);
}

/// Commits while every descriptor of the process is in use, then after they were closed.
#[test]
fn writer_without_descriptors() {
    let Some(dir) = directory() else { return };
    let engine = open(&dir);
    let batch = |round: u64| {
        let mut batch = Batch { token: Some([round as u8; 16]), ..Batch::default() };
        batch.put(format!("{round:03}"), noise(2 << 20, round));
        batch
    };
    assert_eq!(engine.commit(batch(0)).unwrap(), 1);
    let taken: Vec<_> = std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).collect();
    // More than fits in memory: tables and journals would have to be created.
    for round in 1..60 {
        match engine.commit(batch(round)) {
            Ok(_) | Err(CommitError::Engine(Error::Io(_))) => {}
            other => panic!("round {round}: {other:?}"),
        }
    }
    drop(taken);
    let last = engine.commit(batch(60)).unwrap();
    let view = engine.snapshot().unwrap();
    assert_eq!(view.version(), last);
    assert_eq!(view.get(b"060").unwrap().unwrap(), noise(2 << 20, 60));
}

#[test]
fn a_process_without_descriptors_refuses_commits_until_there_are_some() {
    let dir = tempfile::tempdir().unwrap();
    let limited = ["sh", "-c", "ulimit -n 256; exec \"$0\" \"$@\""];
    let status = role(&limited, "writer_without_descriptors", dir.path()).status().unwrap();
    assert!(status.success());
    let view = open(dir.path()).snapshot().unwrap();
    assert!(view.get(b"000").unwrap().is_some() && view.get(b"060").unwrap().is_some());
}

/// A file system of 160 MiB in memory; `None` if this process may not mount one.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let dir = tempfile::tempdir().expect("there is room in /tmp");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=160m", "tmpfs"])
            .arg(dir.path())
            .stderr(Stdio::null())
            .status();
        mount.is_ok_and(|status| status.success()).then(|| Self(dir))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_refuses_commits_until_there_is_space() {
    let Some(disk) = SmallDisk::mount() else {
        return eprintln!("SKIPPED, NOT TESTED: mounting a small disk needs root");
    };
    let engine = open(&disk.0.path().join("catalog"));
    let large = |at: u8| {
        let mut batch = Batch::default();
        batch.put("large", noise(2 << 20, at.into()));
        batch
    };
    assert_eq!(engine.commit(large(1)).unwrap(), 1);
    let filler = disk.0.path().join("filler");
    std::fs::write(&filler, vec![1; 100 << 20]).unwrap();
    assert!(matches!(engine.commit(large(2)), Err(CommitError::NoSpace)));
    assert_eq!(engine.snapshot().unwrap().get(b"large").unwrap().unwrap(), noise(2 << 20, 1));
    std::fs::remove_file(filler).unwrap();
    assert_eq!(engine.commit(large(3)).unwrap(), 2);
}

/// Opens the directory; the exit code shows whether that was refused.
#[test]
fn second_process() {
    let Some(dir) = directory() else { return };
    let options = FjallOptions { reserve: 0, ..FjallOptions::default() };
    assert!(matches!(FjallEngine::open(dir, options), Err(Error::Locked)));
}

#[test]
fn a_second_process_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = || {
        let mut second = role(&[], "second_process", dir.path());
        second.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
    };
    let engine = open(dir.path());
    assert!(refused());
    drop(engine);
    assert!(!refused());
}
