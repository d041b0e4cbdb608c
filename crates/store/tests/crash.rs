//! What survives `kill -9`. A child writes until it is killed and reports what was acknowledged; after each kill every
//! acknowledged change is present with all its bytes, a change in progress is applied completely or not at all, and a
//! check is clean. The same over PostgreSQL, and when PostgreSQL is killed ([`postgres`]). And what survives a power
//! cut at any point of a recorded history ([`cuts`]).
//!
//! `CENOTE_CRASH_ROUNDS` sets the number of kills; a history can be repeated with the seed that a failure prints
//! (`CENOTE_CRASH_SEED`), as far as the timing of the machine allows.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "crash/cuts.rs"]
mod cuts;
#[path = "crash/history.rs"]
mod history;
#[path = "crash/postgres.rs"]
mod postgres;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use cenote_blob::Place;
use cenote_kv::{FjallEngine, FjallOptions, PostgresEngine};
use cenote_store::{
    At, AttributeChange, Avu, AvuChange, BatchItem, BatchWhat, Caller, CheckOptions, Conditions,
    CopyOptions, CreateOptions, Draft, ErrorKind, Expected, Kind, MoveOptions, Parts, PutOptions,
    ReadOptions, Received, RemoveOptions, RestoreOptions, Result, Retention, StageFrom, Store,
    StorePath, TrashItem, UploadOptions, Versioning, Where,
};
use futures_util::stream;

use crate::history::{Dice, KEEPING, Objects, Op, apply, op, states};

const DIRECTORY: &str = "CENOTE_CRASH_DIRECTORY";
const ROUND: &str = "CENOTE_CRASH_ROUND";
/// The number of changes after which each writer stops.
const STEPS: &str = "CENOTE_CRASH_STEPS";
const WRITERS: u64 = 3;
/// A new store is created after this many rounds, so that a long run does not slow down.
const ROUNDS_A_STORE: u64 = 20;

fn path(path: impl AsRef<str>) -> StorePath {
    path.as_ref().parse().unwrap()
}

fn once(bytes: &[u8]) -> impl futures_core::Stream<Item = Result<Bytes>> + use<> {
    stream::iter([Ok(Bytes::copy_from_slice(bytes))])
}

/// Makes one change in the store.
async fn perform(store: &Store, caller: &Caller, home: &str, op: &Op) -> Result<()> {
    let to = |name: &str| path(format!("{home}/{name}"));
    let at = |name: &str| At::Path(to(name));
    let (conditions, expected) = (Conditions::default(), Expected::default());
    match op {
        Op::Put(name, bytes) => {
            store.put(caller, to(name), once(bytes), PutOptions::default()).await.map(drop)
        }
        Op::Upload(name, bytes) => {
            let upload = store.begin_upload(caller, to(name), &UploadOptions::default())?.id;
            // A part that is sent again replaces the one of its offset: only the last may be empty.
            let (first, second) = bytes.split_at(bytes.len().div_ceil(2));
            for (offset, part) in [(first.len(), second), (0, first)] {
                let offset = offset as u64;
                store.put_part(caller, upload, offset, once(part), &expected).await?;
            }
            store.complete_upload(caller, upload, None).await.map(drop)
        }
        Op::Write(name, offset, bytes) => {
            let place = Where::Offset(*offset);
            store
                .write_at(caller, &at(name), place, once(bytes), (&conditions, &expected))
                .await
                .map(drop)
        }
        Op::Append(name, bytes) => store
            .write_at(caller, &at(name), Where::Append, once(bytes), (&conditions, &expected))
            .await
            .map(drop),
        Op::Stage(name, offset, bytes, size) => {
            let stage = Some(StageFrom::Object);
            let options = UploadOptions { stage, ..UploadOptions::default() };
            let stage = store.begin_upload(caller, to(name), &options)?.id;
            let place = Where::Offset(*offset);
            store.write_stage(caller, stage, place, once(bytes), &expected).await?;
            store.truncate_stage(caller, stage, *size).await?;
            store.complete_upload(caller, stage, None).await.map(drop)
        }
        Op::Truncate(name, size) => store.truncate(caller, &at(name), *size, &conditions).map(drop),
        Op::Move(from, target) => {
            let options = MoveOptions { replace: true, versions: true, ..MoveOptions::default() };
            store.relocate(caller, &at(from), &to(target), options).map(drop)
        }
        Op::Copy(from, target) => {
            let options = CopyOptions { replace: true, ..CopyOptions::default() };
            store.copy(caller, &at(from), &to(target), options).map(drop)
        }
        Op::Remove(name) => {
            let options = RemoveOptions { versions: true, ..RemoveOptions::default() };
            emptied(store, caller, store.remove(caller, &at(name), &options)?)
        }
        Op::Describe(name, value) => {
            let value = Avu { attribute: "step".into(), value: value.clone(), unit: None };
            store.change_avus(caller, &at(name), &[AvuChange::Set(value)], &conditions).map(drop)
        }
        Op::MakeTree(name, bytes) => make_tree(store, caller, &to(name), bytes),
        Op::RemoveTree(name) => {
            let options =
                RemoveOptions { recursive: true, versions: true, ..RemoveOptions::default() };
            emptied(store, caller, store.remove(caller, &at(name), &options)?)
        }
        Op::Undone(name) => {
            let options = RemoveOptions { recursive: true, ..RemoveOptions::default() };
            let kept = store.remove(caller, &at(name), &options)?.expect("the trash keeps it");
            store.restore_removed(caller, kept.id, &RestoreOptions::default()).map(drop)
        }
        Op::Together(ops) => Box::pin(together(store, caller, home, ops)).await,
    }
}

/// Makes several changes in one change set. Refusals are part of the history; only the sweep of removed resources
/// changes the same resources.
async fn together(store: &Store, caller: &Caller, home: &str, ops: &[Op]) -> Result<()> {
    loop {
        let id = store.begin_change_set(caller, None)?.id;
        let set = store.within(caller, id).await?;
        for op in ops {
            match op {
                // Its parts are sent outside of the set.
                Op::Upload(name, bytes) => {
                    let to = path(format!("{home}/{name}"));
                    set.put(caller, to, once(bytes), PutOptions::default()).await.map(drop)?;
                }
                // A stage cannot be created in a set.
                Op::Stage(name, offset, bytes, size) => {
                    let write = Op::Write(name.clone(), *offset, bytes.clone());
                    for op in [write, Op::Truncate(name.clone(), *size)] {
                        of_the_history(Box::pin(perform(&set, caller, home, &op)).await)?;
                    }
                }
                op => of_the_history(Box::pin(perform(&set, caller, home, op)).await)?,
            }
        }
        drop(set);
        match store.commit_change_set(caller, id).await {
            Err(error) if error.kind() == ErrorKind::Conflict => {}
            committed => return committed.map(drop),
        }
    }
}

/// Purges some of the trash, so that kills hit that, too.
fn emptied(store: &Store, caller: &Caller, kept: Option<TrashItem>) -> Result<()> {
    let some = kept.filter(|item| item.id.0.is_multiple_of(2));
    some.map_or(Ok(()), |item| store.empty_trash_of(caller, item.id))
}

fn make_tree(store: &Store, caller: &Caller, at: &StorePath, bytes: &[u8]) -> Result<()> {
    let received = Received::inline(bytes, &Expected::default())?;
    let items = ["a", "b"].map(|leaf| BatchItem {
        path: path(format!("{at}/{leaf}")),
        what: BatchWhat::Object(received.clone().into()),
        options: PutOptions { parents: true, ..PutOptions::default() },
    });
    store.publish_many(caller, &items)?.into_iter().try_for_each(|answer| answer.map(drop))
}

/// The file with the address of the catalog, if it is not in the directory.
const POSTGRES: &str = "postgres";

fn parts(dir: &Path) -> Parts {
    let place = Place::local("main", dir.join("contents")).unwrap();
    if let Ok(config) = std::fs::read_to_string(dir.join(POSTGRES)) {
        return Parts::new(PostgresEngine::open(&config).expect("the server answers"), place);
    }
    let options = FjallOptions { reserve: 0, ..FjallOptions::default() };
    let engine = FjallEngine::open(dir.join("catalog"), options).expect("the catalog opens");
    Parts::new(engine, place)
}

fn admin(store: &Store) -> Caller {
    store.caller_for(store.person_named("root").unwrap().0).unwrap()
}

fn home(round: u64, writer: u64) -> String {
    format!("/r{round}/w{writer}")
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The child: writes until it is killed. In an ordinary run of the tests it does nothing.
#[test]
fn writer() {
    let Some(dir) = std::env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let (round, seed) = (number(ROUND).unwrap(), number("CENOTE_CRASH_SEED").unwrap());
    let store = Store::open_existing(parts(&dir)).unwrap();
    let (output, running) = (Mutex::new(std::io::stdout()), Running::default());
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (store, output, running) = (&store, &output, &running);
            scope.spawn(move || {
                let _ending = Ending(running);
                write(store, (output, running), (seed, round, writer));
            });
        }
        scope.spawn(|| {
            let _ending = Ending(&running);
            sweep(&store, || running.is_over());
        });
    });
}

/// The state shared by the threads of the child.
#[derive(Default)]
struct Running {
    ended: AtomicU64,
    failed: AtomicBool,
}

/// Records the end of a thread, whatever ended it.
struct Ending<'a>(&'a Running);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
        self.0.failed.fetch_or(std::thread::panicking(), Ordering::Relaxed);
    }
}

impl Running {
    /// A panic ends the other threads, or the parent would wait for ever.
    fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    fn is_over(&self) -> bool {
        self.has_failed() || self.ended.load(Ordering::Relaxed) == WRITERS
    }
}

fn write(
    store: &Store,
    (output, running): (&Mutex<std::io::Stdout>, &Running),
    (seed, round, writer): (u64, u64, u64),
) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (caller, home) = (admin(store), home(round, writer));
    let steps = 0..number(STEPS).unwrap_or(u64::MAX);
    for step in steps.take_while(|_| !running.has_failed()) {
        let op = op(seed ^ round, writer, step);
        match runtime.block_on(perform(store, &caller, &home, &op)) {
            Ok(()) => {}
            Err(error) if is_of_the_history(error.kind()) => {}
            Err(error) => panic!("{op:?}: {error:?}"),
        }
        writeln!(output.lock().unwrap(), "acknowledged {writer} {step}").unwrap();
    }
}

/// Ignores errors that are caused by the state of the resources.
fn of_the_history(done: Result<()>) -> Result<()> {
    match done {
        Err(error) if is_of_the_history(error.kind()) => Ok(()),
        done => done,
    }
}

/// Errors caused by the state of the resources, not by the crash.
fn is_of_the_history(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::Exists)
}

/// Sweeps without a grace, so that kills hit sweeps, too.
fn sweep(store: &Store, is_over: impl Fn() -> bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    while !is_over() {
        store.run_jobs().unwrap();
        runtime.block_on(store.sweep_contents(Duration::ZERO)).unwrap();
        std::thread::yield_now();
    }
}

fn writing(dir: &Path, round: u64, seed: u64) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "writer", "--nocapture"]).env(DIRECTORY, dir);
    command.env(ROUND, round.to_string()).env("CENOTE_CRASH_SEED", seed.to_string());
    command
}

fn start(dir: &Path, round: u64, seed: u64) -> Child {
    let mut command = writing(dir, round, seed);
    command.env("RUST_BACKTRACE", "0");
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The writer and the step that a line reports as acknowledged.
fn acknowledged(line: &str) -> Option<(usize, u64)> {
    let (writer, step) = line.split("acknowledged ").nth(1)?.trim().split_once(' ')?;
    Some((writer.parse().ok()?, step.parse().ok()?))
}

/// The number of changes of each writer acknowledged before the kill, which happens after `enough`.
fn kill_after(child: Child, enough: u64) -> Vec<u64> {
    watch(child, enough, |child, seen| {
        if seen == enough {
            child.kill().unwrap();
        }
    })
}

/// The same, but ended by `act`, which gets the number of acknowledged changes after each.
#[expect(clippy::disallowed_methods, reason = "a pipe of a child, without a runtime")]
fn watch(mut child: Child, enough: u64, mut act: impl FnMut(&mut Child, u64)) -> Vec<u64> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // Read concurrently: a writer that fails prints its operation including its bytes, which is more than a pipe can
    // hold.
    let mut errors = child.stderr.take().unwrap();
    let failed = std::thread::spawn(move || {
        let mut printed = Vec::new();
        errors.read_to_end(&mut printed).map(|_| printed)
    });
    let mut done = vec![0; WRITERS as usize];
    let mut seen = 0;
    for line in lines.map_while(std::result::Result::ok) {
        let Some((writer, step)) = acknowledged(&line) else { continue };
        done[writer] = step + 1;
        seen += 1;
        act(&mut child, seen);
    }
    let failed = failed.join().unwrap().unwrap();
    let failed = String::from_utf8_lossy(&failed);
    child.wait().unwrap();
    assert!(seen >= enough, "the writer stopped by itself after {seen} of {enough}: {failed}");
    done
}

fn seen(store: &Store, caller: &Caller, home: &str) -> Objects {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let top = path(home);
    let entries = store.walk(caller, &At::from(&top), None, 10_000).unwrap().entries;
    let objects = entries.into_iter().filter(|entry| entry.resource.kind == Kind::Object);
    let object = |entry: cenote_store::Stat| {
        let names = entry.path.names()[top.names().len()..].iter().map(|name| name.as_str());
        let opened = store.open(caller, &At::Id(entry.id), &ReadOptions::default()).unwrap();
        let bytes = runtime.block_on(opened.read_all()).unwrap().to_vec();
        let avus = store.avus(caller, &At::Id(entry.id)).unwrap();
        (names.collect::<Vec<_>>().join("/"), (bytes, avus.into_iter().next().map(|avu| avu.value)))
    };
    objects.map(object).collect()
}

fn verify(dir: &Path, round: u64, seed: u64, done: &[u64]) {
    let store = Store::open_existing(parts(dir)).unwrap();
    let caller = admin(&store);
    for (writer, done) in done.iter().enumerate() {
        let writer = writer as u64;
        let mut expected = Objects::new();
        (0..*done).for_each(|step| apply(&mut expected, &op(seed ^ round, writer, step)));
        let there = seen(&store, &caller, &home(round, writer));
        let under_way = op(seed ^ round, writer, *done);
        assert!(
            states(&expected, &under_way).contains(&there),
            "seed {seed}, round {round}, writer {writer}: after {done} changes, {} under way; {}",
            brief(&under_way),
            difference(&expected, &there)
        );
    }
    assert_clean(&store, seed, round);
    store.run_jobs().unwrap();
    assert_clean(&store, seed, round);
}

/// A change without most of its bytes.
fn brief(op: &Op) -> String {
    format!("{op:?}").chars().take(80).collect()
}

/// Which objects are not as expected: their sizes, and from which byte on they differ.
fn difference(expected: &Objects, there: &Objects) -> String {
    let names: BTreeSet<_> = expected.keys().chain(there.keys()).collect();
    let lines = names.into_iter().filter(|name| expected.get(*name) != there.get(*name));
    let line = |name: &String| {
        let (was, is) = (expected.get(name), there.get(name));
        let [before, after] = [was, is].map(|it| it.map(|(bytes, step)| (bytes.len(), step)));
        let from = was
            .zip(is)
            .and_then(|((was, _), (is, _))| was.iter().zip(is).position(|(a, b)| a != b));
        format!("{name}: expected {before:?}, found {after:?}, other bytes from {from:?}")
    };
    lines.map(line).collect::<Vec<_>>().join("; ")
}

fn assert_clean(store: &Store, seed: u64, round: u64) {
    use futures_util::TryStreamExt;
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let check = async { store.check(CheckOptions::default()).try_collect::<Vec<_>>().await };
    let found = runtime.block_on(check).unwrap();
    let lines: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "seed {seed}, round {round}:\n{}", lines.join("\n"));
}

fn prepare(dir: &Path, round: u64) {
    if round.is_multiple_of(ROUNDS_A_STORE) {
        Store::create_new(parts(dir), "root", "password").unwrap();
    }
    let store = Store::open_existing(parts(dir)).unwrap();
    let caller = admin(&store);
    for writer in 0..WRITERS {
        let options = CreateOptions { parents: true, ..CreateOptions::default() };
        let home = path(home(round, writer));
        store.create(&caller, &home, Draft::Collection, options).unwrap();
        // One writer's changes are kept as versions, of which the oldest are dropped.
        let keep = (writer == 0).then_some(Versioning::EachChange(Retention::last(3)));
        // Resources removed by another writer are moved to the trash.
        let keep_removed = (writer == KEEPING).then_some(Some(3_600));
        let versioning = Some(keep);
        let change = AttributeChange { versioning, keep_removed, ..AttributeChange::default() };
        store.set_attributes(&caller, &At::from(&home), &change).unwrap();
    }
}

#[test]
fn every_acknowledged_change_survives_a_kill_and_none_is_partial() {
    let rounds = number("CENOTE_CRASH_ROUNDS").unwrap_or(5);
    let seed = number("CENOTE_CRASH_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    let mut dir = tempfile::tempdir().unwrap();
    for round in 0..rounds {
        if round.is_multiple_of(ROUNDS_A_STORE) {
            dir = tempfile::tempdir().unwrap();
        }
        prepare(dir.path(), round);
        let enough = 1 + Dice::new(&[seed, round]).below(300);
        let done = kill_after(start(dir.path(), round, seed), enough);
        verify(dir.path(), round, seed, &done);
    }
}
