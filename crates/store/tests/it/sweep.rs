//! Removed contents are deleted from the places immediately, except those being read or written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use cenote_blob::Place;
use cenote_kv::MemoryEngine;
use cenote_store::{Error, Expected, Opened, Pace, PutOptions, ReadOptions, Where};
use futures_util::{StreamExt, stream};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::raw::file_bytes;
use crate::world::{World, assert_clean, at, cases, noise, once, path, run, world, world_on};

fn maintained(world: &World) {
    run(world.store.maintain_once(&Pace::default())).unwrap();
}

fn open(world: &World, from: &str) -> Opened {
    world.store.open(&world.admin, &at(from), &ReadOptions::default()).unwrap()
}

#[test]
fn overwritten_and_removed_contents_are_swept_immediately() {
    let world = world();
    for seed in 0..3 {
        world.put("/a", &noise(1_000, seed));
    }
    world.put("/b", &noise(1_000, 7));
    world.rm("/b").unwrap();
    maintained(&world);
    assert_eq!(
        (world.blobs_in("main"), world.table(b'K').len(), world.table(b'g').len()),
        (1, 1, 0)
    );
}

#[test]
fn contents_being_read_are_kept_until_the_reader_ends() {
    let world = world();
    let (first, second) = (noise(1_000, 1), noise(1_000, 2));
    world.put("/a", &first);
    let before = open(&world, "/a");
    world.put("/a", &second);
    let mut stream = open(&world, "/a").bytes(0..1_000).unwrap();
    let begun = run(stream.next()).unwrap().unwrap();
    world.put("/a", b"third");
    world.put("/other", &noise(1_000, 3));
    world.rm("/other").unwrap();
    maintained(&world);
    assert_eq!(world.blobs_in("main"), 2, "the two that are read");
    assert!(run(before.read_all()).unwrap() == first);
    let rest: Vec<Bytes> = run(stream.map(Result::unwrap).collect());
    assert!([&[begun][..], &rest].concat().concat() == second);
    maintained(&world);
    assert_eq!((world.blobs_in("main"), world.table(b'g').len()), (0, 0));
}

#[test]
fn a_removal_wakes_the_sweep_and_so_does_the_end_of_a_read() {
    let world = world();
    world.put("/a", &noise(1_000, 1));
    let reader = open(&world, "/a");
    let pace = Pace { round: Duration::from_secs(1 << 30), ..Pace::default() };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
    let store = world.store.clone();
    let upkeep = runtime.spawn(async move { store.maintain(pace).await });
    let until = |blobs: usize| {
        let wait = async {
            while world.opened("main").list().count().await != blobs {
                tokio::task::yield_now().await;
            }
        };
        let most = Duration::from_secs(60);
        runtime.block_on(async { tokio::time::timeout(most, wait).await }).expect("it is swept");
    };
    for seed in 2..4 {
        world.put("/a", &noise(1_000, seed));
        until(2);
    }
    drop(reader);
    until(1);
    upkeep.abort();
}

#[test]
fn contents_of_abandoned_writers_are_swept() {
    let world = world();
    let expected = Expected::default();
    let received = run(world.store.receive(once(&noise(500, 2)), &expected)).unwrap();
    maintained(&world);
    assert_eq!(world.blobs_in("main"), 1, "it may still be published");
    world.store.publish(&world.admin, path("/a"), &received, &PutOptions::default()).unwrap();
    drop(received);
    drop(run(world.store.receive(once(&noise(500, 3)), &expected)).unwrap());
    assert_eq!(world.blobs_in("main"), 2);
    maintained(&world);
    assert_eq!(world.blobs_in("main"), 1);
    assert!(world.read("/a") == noise(500, 2));
}

/// A store on a disk, in which the clock is far ahead of that of the disk.
fn on_disk(dir: &tempfile::TempDir) -> World {
    let place = Place::local("main", dir.path()).unwrap();
    let world = world_on(MemoryEngine::new(), place);
    world.clock.advance(Duration::from_secs(100 * 365 * 24 * 3_600));
    world
}

#[test]
fn contents_left_by_a_stopped_process_are_swept_on_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let world = on_disk(&dir);
    world.put("/a", &noise(1_000, 1));
    std::mem::forget(run(world.store.receive(once(&noise(500, 2)), &Expected::default())));
    let staged = std::fs::read_dir(dir.path().join("blobs")).unwrap().next().unwrap().unwrap();
    std::fs::write(staged.path().join(format!("{:030x}#1", 7)), b"unfinished").unwrap();
    let world = world.reopened();
    let at_work = run(world.store.receive(once(&noise(300, 3)), &Expected::default())).unwrap();
    let swept = run(world.store.sweep_orphans(Pace::default().orphans)).unwrap();
    assert_eq!((swept.blobs, file_bytes(dir.path())), (1, 1_300));
    world.store.publish(&world.admin, path("/b"), &at_work, &PutOptions::default()).unwrap();
    assert_clean(&world.store);
}

#[test]
fn a_put_abandoned_midway_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let world = on_disk(&dir);
    let bytes = stream::iter([Ok::<_, Error>(Bytes::from(noise(3 << 20, 1)))]);
    let to = path("/a");
    let put =
        world.store.put(&world.admin, &to, bytes.chain(stream::pending()), PutOptions::default());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        tokio::select! {
            biased;
            _ = put => unreachable!("the bytes have no end"),
            () = async { while file_bytes(dir.path()) == 0 { tokio::task::yield_now().await } } => {}
        }
        world.store.maintain_once(&Pace::default()).await.unwrap();
    });
    drop(runtime);
    assert_eq!(file_bytes(dir.path()), 0);
}

/// Overwrites an object repeatedly while others read it and the sweep runs.
#[test]
fn readers_of_a_constantly_overwritten_object_read_one_of_its_contents() {
    const ROUNDS: u64 = 300;
    let dir = tempfile::tempdir().unwrap();
    let world = on_disk(&dir);
    world.put("/a", &noise(5_000, 0));
    let done = AtomicBool::new(false);
    let contents: Vec<Vec<u8>> = (0..ROUNDS).map(|seed| noise(5_000, seed)).collect();
    std::thread::scope(|threads| {
        for _ in 0..3 {
            threads.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let read = world.read("/a");
                    assert!(contents.contains(&read));
                }
            });
        }
        threads.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                maintained(&world);
            }
        });
        contents.iter().for_each(|bytes| drop(world.put("/a", bytes)));
        done.store(true, Ordering::Relaxed);
    });
    maintained(&world);
    assert_eq!(file_bytes(dir.path()), 5_000, "what is live, and nothing else");
    assert_clean(&world.store);
}

/// Operations of callers, interleaved with the sweep.
#[derive(Debug, Clone)]
enum Step {
    Put(usize, usize),
    Write(usize, usize),
    Copy(usize, usize),
    Remove(usize),
    Open(usize),
    Close(usize),
    Receive,
    Forget(usize),
    Sweep,
}

fn step() -> impl Strategy<Value = Step> {
    let object = || 0usize..3;
    prop_oneof![
        4 => (object(), 0usize..300).prop_map(|(object, size)| Step::Put(object, size)),
        3 => (object(), 0usize..200).prop_map(|(object, size)| Step::Write(object, size)),
        2 => (object(), object()).prop_map(|(from, to)| Step::Copy(from, to)),
        2 => object().prop_map(Step::Remove),
        3 => object().prop_map(Step::Open),
        1 => (0usize..8).prop_map(Step::Close),
        1 => Just(Step::Receive),
        1 => (0usize..8).prop_map(Step::Forget),
        4 => Just(Step::Sweep),
    ]
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn readers_read_the_content_they_opened_and_only_used_contents_are_kept(steps in vec(step(), 0..80)) {
        let world = world();
        let name = |object: usize| format!("/{object}");
        let mut objects: [Option<Vec<u8>>; 3] = Default::default();
        let (mut readers, mut writers) = (Vec::new(), Vec::new());
        for (n, step) in steps.into_iter().enumerate() {
            let seed = n as u64 + 1;
            match step {
                Step::Put(object, size) => {
                    world.put(&name(object), &noise(size, seed));
                    objects[object] = Some(noise(size, seed));
                }
                Step::Write(object, size) => if let Some(bytes) = &mut objects[object] {
                    let more = noise(size, seed);
                    world.write_at(&name(object), Where::Append, &more).unwrap();
                    bytes.extend(more);
                },
                Step::Copy(from, to) => if objects[from].is_some() && objects[to].is_none() {
                    world.cp(&name(from), &name(to)).unwrap();
                    objects[to] = objects[from].clone();
                },
                Step::Remove(object) => if objects[object].take().is_some() {
                    world.rm(&name(object)).unwrap();
                },
                Step::Open(object) => if let Some(bytes) = &objects[object] {
                    readers.push((open(&world, &name(object)), bytes.clone()));
                },
                Step::Close(reader) => if reader < readers.len() {
                    readers.swap_remove(reader);
                },
                Step::Receive => {
                    let expected = Expected::default();
                    let bytes = once(&noise(200, seed));
                    writers.push(run(world.store.receive(bytes, &expected)).unwrap());
                }
                Step::Forget(writer) => if writer < writers.len() {
                    writers.swap_remove(writer);
                },
                Step::Sweep => maintained(&world),
            }
        }
        maintained(&world);
        for (reader, bytes) in readers {
            prop_assert!(run(reader.read_all()).unwrap() == bytes);
        }
        drop(writers);
        maintained(&world);
        prop_assert_eq!(world.table(b'g').len(), 0);
        prop_assert_eq!(world.blobs_in("main"), world.table(b'B').len());
        let users = world.table(b'R');
        let used: std::collections::BTreeSet<_> = users.iter().map(|key| &key[1..9]).collect();
        prop_assert_eq!(world.table(b'K').len(), used.len());
        assert_clean(&world.store);
    }
}
