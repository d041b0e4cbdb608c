//! A disk that is full: what adds is refused while there is still some room, and what removes goes on.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cenote_blob::Place;
use cenote_kv::{FjallEngine, FjallOptions};
use cenote_store::{ErrorKind, Pace, PutOptions};

use crate::world::{World, assert_clean, kind, noise, run, world_on};

const MIB: u64 = 1 << 20;
const RESERVE: u64 = 64 * MIB;
const SIZE: u64 = 1 << 30;

/// A store on a disk of its own, which others fill, too.
struct Disk {
    dir: tempfile::TempDir,
    others: Arc<AtomicU64>,
}

/// The bytes that the files below a directory take.
fn used(dir: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let bytes = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => used(&entry.path()),
        found => found.map_or(0, |found| found.blocks() * 512),
    };
    std::fs::read_dir(dir).map_or(0, |entries| entries.flatten().map(bytes).sum())
}

fn free(dir: &Path, others: &AtomicU64) -> u64 {
    SIZE.saturating_sub(used(dir)).saturating_sub(others.load(Ordering::SeqCst))
}

impl Disk {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), others: Arc::default() }
    }

    fn world(&self) -> World {
        let catalog = self.dir.path().join("catalog");
        let options = FjallOptions { reserve: 0, ..FjallOptions::default() };
        let engine = FjallEngine::open(&catalog, options).unwrap();
        let (dir, others) = (self.dir.path().to_owned(), self.others.clone());
        let engine = engine.with_disk(&catalog, RESERVE, move || (free(&dir, &others), SIZE));
        world_on(engine, Place::local("main", self.dir.path().join("contents")).unwrap())
    }

    /// Has others fill the disk until so much is free.
    fn leave(&self, bytes: u64) {
        self.others.store(0, Ordering::SeqCst);
        let all = free(self.dir.path(), &self.others);
        self.others.store(all.saturating_sub(bytes), Ordering::SeqCst);
    }
}

fn try_put(world: &World, to: &str, size: u64) -> cenote_store::Result<()> {
    let bytes = noise(size as usize, 1);
    world.try_put(&world.admin, to, &bytes, PutOptions::default()).map(drop)
}

/// Puts objects until there is no room, and says how many there are.
fn fill(world: &World, size: u64) -> u64 {
    for n in 0.. {
        if let Err(error) = try_put(world, &format!("/{n}"), size) {
            assert_eq!(error.kind(), ErrorKind::NoSpace, "{error}");
            return n;
        }
    }
    unreachable!("the disk has an end")
}

fn maintained(world: &World) {
    run(world.store.maintain_once(&Pace::default())).unwrap();
}

#[test]
fn a_full_store_can_be_emptied_and_filled_again() {
    let disk = Disk::new();
    let world = disk.world();
    disk.leave(80 * MIB);
    let objects = fill(&world, 2 * MIB);
    assert!((3..=8).contains(&objects), "{objects}");
    assert!(free(disk.dir.path(), &disk.others) >= 58 * MIB, "the catalog keeps its room");
    // Somebody else takes the rest.
    disk.leave(0);
    assert_eq!(kind(try_put(&world, "/small", 10)), ErrorKind::NoSpace);
    for n in 0..objects {
        world.rm(&format!("/{n}")).unwrap();
        assert_eq!(
            kind(try_put(&world, "/small", 10)),
            ErrorKind::NoSpace,
            "the reserve is not for it"
        );
    }
    maintained(&world);
    assert_eq!(world.blobs_in("main"), 0);
    disk.leave(64 * MIB + RESERVE + 16 * MIB);
    try_put(&world, "/again", 2 * MIB).unwrap();
    assert_clean(&world.store);
}

#[test]
fn a_put_is_refused_before_it_has_filled_the_disk() {
    let disk = Disk::new();
    let world = disk.world();
    disk.leave(80 * MIB);
    assert_eq!(kind(try_put(&world, "/large", 60 * MIB)), ErrorKind::NoSpace);
    maintained(&world);
    assert_eq!(world.blobs_in("main"), 0, "nothing is left of it");
    try_put(&world, "/small", MIB).unwrap();
}

#[test]
fn every_way_to_make_room_goes_on_when_the_disk_is_full() {
    let disk = Disk::new();
    let world = disk.world();
    crate::world::populated(&world);
    disk.leave(0);
    let upload = cenote_store::UploadId {
        number: u64::from_be_bytes(world.table(b'P')[0][1..].try_into().unwrap()),
        secret: None,
    };
    world.store.abandon_upload(&world.admin, upload).unwrap();
    let all = cenote_store::Prune::KeepNewest(0);
    assert!(world.store.prune_versions(&world.admin, &crate::world::at("/c/x"), &all).unwrap() > 0);
    world.rm_all("/c").unwrap();
    world.rm("/patched").unwrap();
    maintained(&world);
    assert_eq!(world.table(b'g').len(), 0);
    assert_eq!(world.blobs_in("main"), world.table(b'B').len());
    assert_clean(&world.store);
}
