//! A full disk: additions are refused while there is still some space, and removals continue to work.

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

/// A store on its own disk, which other programs fill, too.
struct Disk {
    dir: tempfile::TempDir,
    others: Arc<AtomicU64>,
}

/// The size on disk of the files below a directory.
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

    /// Fills the disk until this much is free.
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

/// Puts objects until there is no space, and returns their number.
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
    // Another program uses the remaining space.
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
fn a_put_is_refused_before_it_fills_the_disk() {
    let disk = Disk::new();
    let world = disk.world();
    disk.leave(80 * MIB);
    assert_eq!(kind(try_put(&world, "/large", 60 * MIB)), ErrorKind::NoSpace);
    maintained(&world);
    assert_eq!(world.blobs_in("main"), 0, "nothing is left of it");
    try_put(&world, "/small", MIB).unwrap();
}

#[test]
fn every_way_to_free_space_works_on_a_full_disk() {
    let disk = Disk::new();
    let world = disk.world();
    crate::world::populated(&world);
    disk.leave(0);
    let upload = cenote_store::UploadId {
        number: u64::from_be_bytes(world.table(b'P')[0][1..].try_into().unwrap()),
        secret: None,
    };
    world.store.abandon_upload(&world.admin, upload).unwrap();
    let all = cenote_store::Prune::All(cenote_store::Retention::last(0));
    assert!(world.store.prune_versions(&world.admin, &crate::world::at("/c/x"), &all).unwrap() > 0);
    world.rm_all("/c").unwrap();
    world.rm("/patched").unwrap();
    maintained(&world);
    assert_eq!(world.table(b'g').len(), 0);
    assert_eq!(world.blobs_in("main"), world.table(b'B').len());
    assert_clean(&world.store);
}

/// Puts objects and immediately removes each, so that they are in the trash.
fn put_and_removed(world: &World, objects: std::ops::Range<u64>, size: u64) {
    for n in objects {
        try_put(world, &format!("/{n}"), size).unwrap_or_else(|error| panic!("{n}: {error}"));
        world.rm(&format!("/{n}")).unwrap();
    }
}

/// The names in the trash, in order.
fn in_the_trash(world: &World) -> Vec<i64> {
    let items = world.trash_of(&world.admin);
    items.iter().map(|item| item.path[1..].parse().unwrap()).collect()
}

fn keeping(disk: &Disk, left: u64) -> World {
    let world = disk.world();
    world.keep_removed("/", 86_400);
    disk.leave(left);
    world
}

#[test]
fn the_trash_is_emptied_before_a_put_is_refused() {
    let disk = Disk::new();
    let world = keeping(&disk, 112 * MIB);
    // Several times the free space, without any upkeep besides that of the puts.
    put_and_removed(&world, 0..80, 2 * MIB);
    let left = in_the_trash(&world);
    assert_eq!(left, (80 - left.len() as i64..80).collect::<Vec<_>>(), "the oldest went");
    assert!((5..40).contains(&left.len()), "{}", left.len());
    let restored = cenote_store::RestoreOptions::default();
    let newest = world.trash_of(&world.admin).pop().unwrap();
    world.store.restore_removed(&world.admin, newest.id, &restored).unwrap();
    assert_eq!(world.read("/79"), noise(2 << 20, 1));
    assert_clean(&world.store);
}

#[test]
fn upkeep_purges_as_much_of_the_trash_as_needed() {
    let disk = Disk::new();
    let world = keeping(&disk, 256 * MIB);
    put_and_removed(&world, 0..16, 2 * MIB);
    maintained(&world);
    assert_eq!(in_the_trash(&world).len(), 16, "there is room");
    // Another program uses it.
    disk.leave(80 * MIB);
    maintained(&world);
    let left = in_the_trash(&world);
    assert_eq!(left.last(), Some(&15));
    assert!((4..12).contains(&left.len()), "{left:?}");
    let free = free(disk.dir.path(), &disk.others);
    assert!(free > 94 * MIB, "{free}");
    maintained(&world);
    assert_eq!(in_the_trash(&world), left, "no more than that");
    // A tree counts with everything in it, even if it has not been counted yet.
    disk.leave(256 * MIB);
    world.mkdir("/-1");
    (0..20).for_each(|n| try_put(&world, &format!("/-1/{n}"), MIB).unwrap());
    world.keep_removed("/", 3_600);
    world.rm_all("/-1").unwrap();
    disk.leave(80 * MIB);
    maintained(&world);
    assert_eq!(in_the_trash(&world), left, "the tree, which expires first, was enough");
    assert_clean(&world.store);
}
