//! A whole store is copied to another engine and another place: it answers as before, an interrupted copy is completed by the next
//! one, and what is damaged is not passed on.

use std::sync::Arc;

use cenote_blob::Place;
use cenote_blob::faulty::{Fault as PlaceFault, Faults};
use cenote_kv::{
    Batch, Engine, Fault, FaultyEngine, FjallEngine, FjallOptions, MemoryEngine, PostgresEngine,
};
use cenote_store::{
    Copied, CopyChoices, CopyProgress, ErrorKind, Health, Landing, Parts, Result, Store, Watch,
};

use crate::check::{blob_of, full};
use crate::postgres_server::fresh_schema;
use crate::raw::overwrite;
use crate::world::{PASSWORD, World, assert_clean, kind, noise, rows, run, world};

fn silent() -> Watch {
    Arc::new(|_| {})
}

/// Everything that a copy has to keep, contents of several parts among it.
fn source() -> World {
    let world = full();
    world.put("/parts", &noise(9 << 20, 7));
    world.reopened()
}

/// Where a copy of a world goes to.
fn target(world: &World, engine: Arc<dyn Engine>, place: Place) -> Parts {
    Parts { engine, main: place, ..world.parts.clone() }
}

fn copy_with(from: &World, to: &Parts, choices: CopyChoices) -> Result<Copied> {
    run(from.store.copy_to(&Landing::new(to), choices, &silent()))
}

fn copy(from: &World, to: &Parts) -> Result<Copied> {
    copy_with(from, to, CopyChoices::default())
}

fn opened(from: &World, parts: Parts) -> World {
    World { opener: from.opener.clone(), ..World::open(parts, from.clock.clone()) }
}

/// The copy is the same store, and goes on as one.
fn assert_goes_on(from: &World, parts: Parts) -> World {
    assert!(rows(&*parts.engine) == rows(&*from.parts.engine), "rows differ");
    let to = opened(from, parts);
    assert_clean(&to.store);
    for path in ["/parts", "/larger", "/c/x", "/patched", "/replicated"] {
        assert!(to.read(path) == from.read(path), "{path}");
    }
    let last = to.table(b'F').pop().unwrap();
    to.put("/c/x", b"newest");
    to.discard("/kept/tree2");
    assert!(to.table(b'F').pop().unwrap() > last, "the feed goes on after its last change");
    assert_clean(&to.store);
    to
}

#[test]
fn a_copy_is_the_same_store_on_another_engine() {
    let Some(schema) = fresh_schema() else { return };
    let from = source();
    from.mkdir("/kept/tree2");
    let database = Arc::new(PostgresEngine::open_alone(&schema).unwrap());
    let first = target(&from, database, Place::memory("main"));
    let copied = copy(&from, &first).unwrap();
    assert_eq!(copied.rows.rows + 1, from.rows().len() as u64);
    assert_eq!(copied.blobs.copied, from.blobs_in("main") as u64);
    let there = opened(&from, first);

    let dir = tempfile::tempdir().unwrap();
    let options = FjallOptions { reserve: 0, ..FjallOptions::default() };
    let engine = Arc::new(FjallEngine::open(dir.path().join("catalog"), options).unwrap());
    let place = Place::local("main", dir.path().join("contents")).unwrap();
    let second = target(&from, engine, place);
    copy_with(&there, &second, CopyChoices { read_back: true, ..CopyChoices::default() }).unwrap();
    assert_goes_on(&from, second);
}

#[test]
fn a_store_that_is_copied_is_read_and_takes_no_changes() {
    let from = source();
    let to = target(&from, Arc::new(MemoryEngine::new()), Place::memory("main"));
    copy(&from, &to).unwrap();
    assert_eq!(kind(from.try_mkdir(&from.admin, "/new")), ErrorKind::ReadOnly);
    assert!(matches!(from.store.health(), Health::ReadOnly(_)));
    assert_eq!(from.read("/c/x"), b"new");
    assert!(from.reopened().try_mkdir(&from.admin, "/new").is_ok());
}

#[test]
fn a_copy_reports_its_progress() {
    let from = source();
    let to = target(&from, Arc::new(MemoryEngine::new()), Place::memory("main"));
    let (send, reported) = std::sync::mpsc::channel();
    let watch: Watch = Arc::new(move |progress| send.send(progress).unwrap());
    let copied = run(from.store.copy_to(&Landing::new(&to), CopyChoices::default(), &watch));
    let copied = copied.unwrap();
    let reported: Vec<_> = reported.try_iter().collect();
    assert!(reported.contains(&CopyProgress::Rows(copied.rows.rows, copied.rows.bytes)));
    let last = CopyProgress::Blobs(copied.blobs.copied, copied.blobs.bytes);
    assert_eq!(reported.last(), Some(&last));
}

/// What was left half way is no store; the next copy completes it.
fn assert_completed(from: &World, to: &Parts, fault: &str) {
    if Store::open_existing(to.clone()).is_ok() {
        // All had arrived, only the answer was lost.
        assert!(rows(&*to.engine) == rows(&*from.parts.engine), "{fault}");
        return;
    }
    copy(from, to).unwrap_or_else(|error| panic!("{fault}: {error}"));
    assert!(rows(&*to.engine) == rows(&*from.parts.engine), "{fault}");
    assert_clean(&opened(from, to.clone()).store);
}

#[test]
fn a_copy_whose_catalog_fails_anywhere_is_completed_by_the_next() {
    let from = full();
    for fault in [Fault::Lose, Fault::Keep, Fault::LoseInDoubt, Fault::KeepInDoubt] {
        for step in 1.. {
            let engine = FaultyEngine::new(Arc::new(MemoryEngine::new()));
            let to = target(&from, Arc::new(engine.clone()), Place::memory("main"));
            engine.fail_at(step, fault);
            let copied = copy(&from, &to);
            let ended = engine.steps() < step;
            engine.heal();
            assert_completed(&from, &to, &format!("{fault:?} at step {step}"));
            if ended {
                copied.unwrap();
                assert!(step > 8, "a copy takes some steps");
                break;
            }
        }
    }
}

#[test]
fn a_copy_whose_place_fails_anywhere_is_completed_by_the_next() {
    let from = full();
    let faults = [PlaceFault::Io, PlaceFault::NoSpace, PlaceFault::Short];
    for fault in faults.into_iter().chain([PlaceFault::CrashBefore, PlaceFault::CrashAfter]) {
        for nth in 1.. {
            let faults = Faults::new();
            let place = faults.into_place(Place::memory("main"));
            let to = target(&from, Arc::new(MemoryEngine::new()), place);
            faults.fail(nth, fault);
            let _ = copy(&from, &to);
            let ended = faults.pending();
            faults.restart();
            assert_completed(&from, &to, &format!("{fault:?} at operation {nth}"));
            if ended {
                assert!(nth > 8, "a copy takes some operations");
                break;
            }
        }
    }
}

#[test]
fn an_interrupted_copy_follows_what_its_source_became_meanwhile() {
    let from = full();
    let faults = Faults::new();
    let place = faults.into_place(Place::memory("main"));
    let to = target(&from, Arc::new(MemoryEngine::new()), place);
    faults.fail(12, PlaceFault::CrashBefore);
    copy(&from, &to).unwrap_err();
    faults.restart();
    let from = from.reopened();
    from.put("/c/x", &noise(500, 11));
    from.rm("/copy").unwrap();
    copy(&from, &to).unwrap();
    assert_eq!(rows(&*to.engine), rows(&*from.parts.engine));
}

#[test]
fn what_a_copy_has_not_finished_is_no_store_and_becomes_none_otherwise() {
    let from = full();
    overwrite(&from, blob_of(&from, "/c/big"), noise(1_000, 9));
    let to = target(&from, Arc::new(MemoryEngine::new()), Place::memory("main"));
    copy(&from, &to).unwrap_err();
    assert_eq!(kind(Store::open_existing(to.clone())), ErrorKind::Unavailable);
    assert_eq!(kind(Store::create_new(to, "root", PASSWORD)), ErrorKind::Unavailable);
}

#[test]
fn damaged_contents_are_reported_and_not_copied() {
    let from = full();
    let (damaged, mended) = (blob_of(&from, "/c/big"), blob_of(&from, "/replicated"));
    overwrite(&from, damaged, noise(1_000, 9));
    overwrite(&from, mended, noise(1_000, 9));
    let to = target(&from, Arc::new(MemoryEngine::new()), Place::memory("main"));
    let error = copy(&from, &to).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged);
    assert!(error.to_string().contains(&damaged.to_string()), "{error}");
    assert_eq!(run(to.main.size(damaged)).unwrap(), None);
    let copied =
        copy_with(&from, &to, CopyChoices { leave_damaged: true, ..CopyChoices::default() });
    let left_out: Vec<_> = copied.unwrap().blobs.damaged.iter().map(|one| one.blob).collect();
    assert_eq!(left_out, [damaged], "the other one has a copy in another place");
    assert!(opened(&from, to).read("/replicated") == from.read("/replicated"));
}

#[test]
fn damaged_rows_are_reported_and_not_copied() {
    let from = full();
    from.damage(&crate::raw::key(b'N', &[from.id("/c/x")]));
    let to = target(&from, Arc::new(MemoryEngine::new()), Place::memory("main"));
    assert_eq!(kind(copy(&from, &to)), ErrorKind::Damaged);
    assert_eq!(kind(Store::open_existing(to)), ErrorKind::Unavailable);
}

#[test]
fn damage_of_what_was_copied_before_is_found_by_reading_it_back() {
    let from = full();
    let (bad, lost) = (blob_of(&from, "/c/big"), blob_of(&from, "/large"));
    overwrite(&from, bad, noise(1_000, 9));
    let to = target(&from, Arc::new(MemoryEngine::new()), Place::memory("main"));
    copy(&from, &to).unwrap_err();
    overwrite(&from, bad, noise(1_000, 1));
    let there = World { parts: to.clone(), ..full() };
    overwrite(&there, lost, noise(200_000, 9));
    copy_with(&from, &to, CopyChoices { read_back: true, ..CopyChoices::default() }).unwrap();
    assert_clean(&opened(&from, to).store);
}

#[test]
fn nothing_is_overwritten_by_a_copy() {
    let from = full();
    let other = world();
    let before = other.rows();
    assert_eq!(kind(copy(&from, &other.parts)), ErrorKind::Exists);
    assert_eq!(other.rows(), before);

    let full = Arc::new(MemoryEngine::new());
    let mut batch = Batch::default();
    batch.put("x", "something else");
    full.commit(batch).unwrap();
    let to = target(&from, full, Place::memory("main"));
    assert_eq!(kind(copy(&from, &to)), ErrorKind::Exists);

    let to = target(&from, Arc::new(MemoryEngine::new()), from.parts.main.clone());
    assert_eq!(kind(copy(&from, &to)), ErrorKind::Exists, "the place is that of the store itself");
}
