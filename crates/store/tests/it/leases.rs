//! Leases of local files: during a lease its files do not change, whatever happens to the object.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use cenote_blob::Place;
use cenote_kv::MemoryEngine;
use cenote_store::{
    AccessChange, At, Caller, ErrorKind, Lease, LeaseId, LocalBytes, Pace, ReadOptions,
    Registration, Rights, Scope, Where,
};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::world::{World, assert_clean, at, cases, kind, noise, path, run, world_on};

const MINUTE: Duration = Duration::from_secs(60);

/// A store with its main place on a disk, and places in memory.
fn on_disk() -> (TempDir, World) {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::local("main", dir.path().join("main")).unwrap();
    let world = world_on(MemoryEngine::new(), place).with_places(Default::default());
    (dir, world)
}

fn lease(world: &World, caller: &Caller, of: &At) -> cenote_store::Result<Lease> {
    world.store.lease_local(caller, of, &ReadOptions::default(), (MINUTE, 100))
}

/// The bytes of a lease, from its files; those that are not in files are taken from `whole`.
fn read(lease: &Lease, whole: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for piece in &lease.pieces {
        assert_eq!(piece.offset, bytes.len() as u64, "no gap");
        let (from, length) = (bytes.len(), piece.length as usize);
        match &piece.bytes {
            LocalBytes::Zeros => bytes.resize(from + length, 0),
            LocalBytes::Store => bytes.extend_from_slice(&whole[from..from + length]),
            LocalBytes::File(path, start) => {
                let file = fs::read(path).expect("the file is there");
                bytes.extend_from_slice(&file[*start as usize..*start as usize + length]);
            }
        }
    }
    bytes
}

fn files(lease: &Lease) -> usize {
    let is_file = |bytes: &LocalBytes| matches!(bytes, LocalBytes::File(..));
    lease.pieces.iter().filter(|piece| is_file(&piece.bytes)).count()
}

#[derive(Debug, Clone)]
enum Step {
    Lease(usize),
    End(usize),
    Put(usize, usize),
    Write(usize, u64),
    Truncate(usize, u64),
    Remove(usize),
    Copy(usize, usize),
    Replicate(usize),
    Trim(usize),
    Sweep,
}

const OBJECTS: [&str; 3] = ["/a", "/b", "/c"];

fn step() -> impl Strategy<Value = Step> {
    let object = 0..OBJECTS.len();
    let size = prop_oneof![0usize..200, 100_000usize..300_000];
    prop_oneof![
        4 => object.clone().prop_map(Step::Lease),
        1 => (0usize..4).prop_map(Step::End),
        4 => (object.clone(), size).prop_map(|(to, size)| Step::Put(to, size)),
        3 => (object.clone(), 0u64..300_000).prop_map(|(to, offset)| Step::Write(to, offset)),
        1 => (object.clone(), 0u64..300_000).prop_map(|(to, size)| Step::Truncate(to, size)),
        2 => object.clone().prop_map(Step::Remove),
        1 => (object.clone(), object.clone()).prop_map(|(from, to)| Step::Copy(from, to)),
        2 => object.clone().prop_map(Step::Replicate),
        2 => object.prop_map(Step::Trim),
        2 => Just(Step::Sweep),
    ]
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn leased_files_do_not_change_whatever_happens(
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let (_dir, world) = on_disk();
        let mut leases: Vec<(Lease, Vec<u8>)> = Vec::new();
        for (n, step) in steps.into_iter().enumerate() {
            match step {
                Step::Lease(of) => {
                    let Ok(lease) = lease(&world, &world.admin, &at(OBJECTS[of])) else { continue };
                    leases.push((lease, world.read(OBJECTS[of])));
                }
                Step::End(which) if which < leases.len() => {
                    let (lease, _) = leases.swap_remove(which);
                    world.store.end_lease(&world.admin, lease.id).unwrap();
                }
                Step::End(_) => {}
                Step::Put(to, size) => drop(world.put(OBJECTS[to], &noise(size, n as u64))),
                Step::Write(to, offset) => {
                    drop(world.write_at(OBJECTS[to], Where::Offset(offset), b"in place"));
                }
                Step::Truncate(to, size) => drop(world.truncate(OBJECTS[to], size)),
                Step::Remove(what) => drop(world.rm(OBJECTS[what])),
                Step::Copy(from, to) => drop(world.cp(OBJECTS[from], OBJECTS[to])),
                Step::Replicate(what) => drop(world.replicate(OBJECTS[what], "a")),
                Step::Trim(what) => drop(world.trim(OBJECTS[what], 0)),
                Step::Sweep => run(world.store.maintain_once(&Pace::default())).unwrap(),
            }
            for (lease, bytes) in &leases {
                prop_assert!(read(lease, bytes) == *bytes, "{:?}", lease.pieces);
            }
        }
        // Once they have expired, nothing is left behind.
        world.clock.advance(2 * MINUTE);
        OBJECTS.iter().for_each(|object| drop(world.rm(object)));
        (0..2).for_each(|_| run(world.store.maintain_once(&Pace::default())).unwrap());
        prop_assert_eq!(world.blobs_in("main"), 0);
        assert_clean(&world.store);
    }
}

#[test]
fn contents_without_a_local_file_are_read_through_the_store() {
    let (dir, world) = on_disk();
    world.put("/small", b"in the catalog");
    world.put_in("a", "/elsewhere", &noise(200_000, 1));
    world.put("/holes", &noise(200_000, 2));
    world.truncate("/holes", 400_000).unwrap();
    let outside = dir.path().join("outside");
    fs::write(&outside, noise(200_000, 3)).unwrap();
    let file = Registration {
        place: world.place("a"),
        file: outside.to_str().unwrap().into(),
        size: None,
        sha256: None,
        additional: false,
        replace: false,
    };
    run(world.store.register(&world.admin, &path("/registered"), &file)).unwrap();
    let pieces = |of: &str| {
        let lease = lease(&world, &world.admin, &at(of)).unwrap();
        let pieces = lease.pieces.into_iter().map(|piece| match piece.bytes {
            LocalBytes::File(..) => ("file", piece.length),
            LocalBytes::Zeros => ("zeros", piece.length),
            LocalBytes::Store => ("store", piece.length),
        });
        pieces.collect::<Vec<_>>()
    };
    assert_eq!(pieces("/small"), [("store", 14)]);
    assert_eq!(pieces("/elsewhere"), [("store", 200_000)]);
    assert_eq!(pieces("/holes"), [("file", 200_000), ("zeros", 200_000)]);
    assert_eq!(pieces("/registered"), [("store", 200_000)]);
}

#[test]
fn a_lease_requires_read_access_and_expires() {
    let (_dir, world) = on_disk();
    world.put("/a", &noise(200_000, 1));
    let user = world.user("u");
    let first = lease(&world, &user, &at("/a"));
    assert_eq!(kind(first), ErrorKind::NotFound);
    let grant = |rights: Rights| {
        let change = [AccessChange::Grant("u".into(), rights.into(), Scope::This)];
        world.store.change_access(&world.admin, &at("/a"), &change).unwrap();
    };
    grant(Rights::READ_DESCRIPTION);
    assert_eq!(kind(lease(&world, &user, &at("/a"))), ErrorKind::Denied);
    grant(Rights::READ_OBJECT);
    let own = lease(&world, &user, &at("/a")).unwrap();
    assert_eq!(files(&own), 1);
    // Only the holder's own, and only while they may read.
    assert_eq!(kind(world.store.end_lease(&world.admin, own.id)), ErrorKind::NotFound);
    world.clock.advance(MINUTE / 2);
    let until = world.store.renew_lease(&user, own.id, MINUTE).unwrap();
    assert_eq!(until, world.store_now().plus(MINUTE));
    grant(Rights::READ_DESCRIPTION);
    assert_eq!(kind(world.store.renew_lease(&user, own.id, MINUTE)), ErrorKind::Denied);
    grant(Rights::READ_OBJECT);
    assert_eq!(
        kind(world.store.renew_lease(&user, own.id, MINUTE)),
        ErrorKind::NotFound,
        "it ended"
    );
    let own = lease(&world, &user, &at("/a")).unwrap();
    world.clock.advance(MINUTE);
    assert_eq!(kind(world.store.renew_lease(&user, own.id, MINUTE)), ErrorKind::NotFound, "over");
    let everyone = world.store.anonymous().unwrap();
    let change = [AccessChange::Grant("anonymous".into(), Rights::READ_OBJECT.into(), Scope::This)];
    world.store.change_access(&world.admin, &at("/a"), &change).unwrap();
    assert_eq!(kind(lease(&world, &everyone, &at("/a"))), ErrorKind::Denied);
}

#[test]
fn leases_are_limited_in_number_and_time() {
    let (_dir, world) = on_disk();
    world.put("/a", &noise(200_000, 1));
    let user = world.user("u");
    let change = [AccessChange::Grant("u".into(), Rights::READ_OBJECT.into(), Scope::This)];
    world.store.change_access(&world.admin, &at("/a"), &change).unwrap();
    let lease = |caller: &Caller, seconds: u64| {
        let options = ReadOptions::default();
        let time = Duration::from_secs(seconds);
        world.store.lease_local(caller, &at("/a"), &options, (time, 3))
    };
    for seconds in [0, 601, u64::MAX] {
        assert_eq!(kind(lease(&user, seconds)), ErrorKind::Invalid);
    }
    let held =
        HashMap::from([(1, lease(&user, 60).unwrap().id), (2, lease(&user, 60).unwrap().id)]);
    assert_eq!(kind(lease(&user, 60)), ErrorKind::Unavailable, "half of them are one user's");
    lease(&world.admin, 60).unwrap();
    assert_eq!(kind(lease(&world.admin, 60)), ErrorKind::Unavailable);
    world.store.end_lease(&user, held[&1]).unwrap();
    lease(&world.admin, 60).unwrap();
    world.clock.advance(MINUTE);
    lease(&user, 60).unwrap();
    for text in ["", "x", &"0".repeat(31), &"g".repeat(32), &"+".repeat(32)] {
        assert!(text.parse::<LeaseId>().is_err());
    }
    assert_eq!(held[&2].to_string().parse::<LeaseId>().unwrap(), held[&2]);
}

fn keep(world: &World, caller: &Caller, of: &str) -> cenote_store::Result<Lease> {
    world.store.lease_content(caller, &at(of), None, (MINUTE, 100))
}

/// The bytes of a lease of a content.
fn kept(world: &World, caller: &Caller, lease: LeaseId) -> cenote_store::Result<Vec<u8>> {
    run(world.store.open_leased(caller, lease)?.read_all()).map(|bytes| bytes.to_vec())
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn a_leased_content_is_read_as_it_was_whatever_happens(
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let (_dir, world) = on_disk();
        let mut leases: Vec<(LeaseId, Vec<u8>)> = Vec::new();
        for (n, step) in steps.into_iter().enumerate() {
            match step {
                Step::Lease(of) => {
                    let Ok(lease) = keep(&world, &world.admin, OBJECTS[of]) else { continue };
                    prop_assert!(lease.pieces.is_empty());
                    leases.push((lease.id, world.read(OBJECTS[of])));
                }
                Step::End(which) if which < leases.len() => {
                    let (lease, _) = leases.swap_remove(which);
                    world.store.end_lease(&world.admin, lease).unwrap();
                    prop_assert!(kept(&world, &world.admin, lease).is_err());
                }
                Step::End(_) => {}
                Step::Put(to, size) => drop(world.put(OBJECTS[to], &noise(size, n as u64))),
                Step::Write(to, offset) => {
                    drop(world.write_at(OBJECTS[to], Where::Offset(offset), b"in place"));
                }
                Step::Truncate(to, size) => drop(world.truncate(OBJECTS[to], size)),
                Step::Remove(what) => drop(world.rm(OBJECTS[what])),
                Step::Copy(from, to) => drop(world.cp(OBJECTS[from], OBJECTS[to])),
                Step::Replicate(what) => drop(world.replicate(OBJECTS[what], "a")),
                Step::Trim(what) => drop(world.trim(OBJECTS[what], 0)),
                Step::Sweep => run(world.store.maintain_once(&Pace::default())).unwrap(),
            }
            for (lease, bytes) in &leases {
                prop_assert!(kept(&world, &world.admin, *lease).unwrap() == *bytes);
            }
        }
        world.clock.advance(2 * MINUTE);
        OBJECTS.iter().for_each(|object| drop(world.rm(object)));
        (0..2).for_each(|_| run(world.store.maintain_once(&Pace::default())).unwrap());
        prop_assert_eq!(world.blobs_in("main"), 0);
        assert_clean(&world.store);
    }
}

#[test]
fn a_leased_content_requires_read_access_while_there_is_an_object() {
    let (_dir, world) = on_disk();
    world.put("/a", &noise(200_000, 1));
    let (user, other) = (world.user("u"), world.user("v"));
    let grant = |rights: Rights| {
        let change = [AccessChange::Grant("u".into(), rights.into(), Scope::This)];
        world.store.change_access(&world.admin, &at("/a"), &change).unwrap();
    };
    assert_eq!(kind(keep(&world, &user, "/a")), ErrorKind::NotFound);
    grant(Rights::READ_OBJECT);
    let lease = keep(&world, &user, "/a").unwrap();
    let tag = Some(lease.head.tag());
    world.put("/a", b"replaced");
    let stale = world.store.lease_content(&user, &at("/a"), tag, (MINUTE, 100));
    assert_eq!(kind(stale), ErrorKind::Precondition);
    assert_eq!(kind(kept(&world, &other, lease.id)), ErrorKind::NotFound, "it is another user's");
    assert!(kept(&world, &user, lease.id).unwrap() == noise(200_000, 1));
    grant(Rights::READ_DESCRIPTION);
    assert_eq!(kind(kept(&world, &user, lease.id)), ErrorKind::Denied);
    grant(Rights::READ_OBJECT);
    assert_eq!(kind(kept(&world, &user, lease.id)), ErrorKind::NotFound, "it ended");
    let lease = keep(&world, &user, "/a").unwrap();
    world.rm("/a").unwrap();
    assert_eq!(kept(&world, &user, lease.id).unwrap(), b"replaced");
    world.store.renew_lease(&user, lease.id, MINUTE).unwrap();
    world.clock.advance(MINUTE);
    assert_eq!(kind(kept(&world, &user, lease.id)), ErrorKind::NotFound, "it is over");
}

#[test]
fn leased_contents_are_limited_in_number_apart_from_local_files() {
    let (_dir, world) = on_disk();
    world.put("/a", &noise(200_000, 1));
    let keep = || world.store.lease_content(&world.admin, &at("/a"), None, (MINUTE, 2));
    let first = keep().unwrap();
    assert_eq!(kind(keep()), ErrorKind::Unavailable, "half of them are one user's");
    let local = lease(&world, &world.admin, &at("/a")).unwrap();
    assert_eq!(kind(kept(&world, &world.admin, local.id)), ErrorKind::WrongKind);
    world.store.end_lease(&world.admin, first.id).unwrap();
    keep().unwrap();
    for seconds in [0, 601] {
        let time = Duration::from_secs(seconds);
        let refused = world.store.lease_content(&world.admin, &at("/a"), None, (time, 2));
        assert_eq!(kind(refused), ErrorKind::Invalid);
    }
    let everyone = world.store.anonymous().unwrap();
    let refused = world.store.lease_content(&everyone, &at("/a"), None, (MINUTE, 9));
    assert_eq!(kind(refused), ErrorKind::Denied);
}
