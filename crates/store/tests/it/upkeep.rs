//! What a store does by itself: one thing that cannot be done keeps nothing else from being done, and damage stays damage.

use std::time::Duration;

use bytes::Bytes;
use cenote_blob::BlobId;
use cenote_store::{CheckOptions, ErrorKind, FindingKind, Pace, ResourceId, UploadOptions, Where};

use crate::raw::{key, overwrite};
use crate::uploads::{begin, complete, part};
use crate::world::{World, assert_clean, crc64nvme, findings, kind, noise, run, world};

const LOOK: CheckOptions = CheckOptions { repair: false, contents: 100 };

fn impatient() -> Pace {
    let zero = Duration::ZERO;
    Pace { grace: zero, orphans: zero, quiet: zero, changes: zero, ..Pace::default() }
}

fn maintained(world: &World) -> cenote_store::Result<()> {
    world.clock.advance(Duration::from_secs(1));
    run(world.store.maintain_once(&impatient()))
}

/// An object whose content came in parts, the last one first, each in a blob.
fn in_parts(world: &World, to: &str, parts: u64) -> ResourceId {
    let upload = begin(world, to, UploadOptions::default()).unwrap().id;
    for n in (0..parts).rev() {
        part(world, upload, n as usize * 200, &noise(200, n)).unwrap();
    }
    complete(world, upload, None).unwrap().id
}

fn blobs(world: &World) -> Vec<BlobId> {
    let blobs = world.table(b'B');
    blobs.iter().map(|key| BlobId::from_bytes(key[1..].try_into().unwrap())).collect()
}

#[test]
fn a_record_that_is_damaged_keeps_nothing_else_from_being_swept() {
    let world = world();
    world.mkdir("/c");
    world.put("/c/x", &noise(200, 1));
    begin(&world, "/late", UploadOptions::default()).unwrap();
    world.rm_all("/c").unwrap();
    for table in [b'J', b'P'] {
        world.raw_put(key(table, &[0]), Bytes::from_static(b"?"));
    }
    world.clock.advance(Duration::from_secs(100 * 24 * 3_600));
    for _ in 0..2 {
        assert_eq!(kind(maintained(&world)), ErrorKind::Damaged);
    }
    for (table, left) in [(b'J', 1), (b'P', 1), (b'g', 0), (b'B', 0)] {
        assert_eq!(world.table(table).len(), left, "{}", char::from(table));
    }
}

#[test]
fn what_a_disk_made_of_bytes_is_not_given_a_digest() {
    let world = world();
    let id = in_parts(&world, "/a", 3);
    let content = |world: &World| world.stat("/a").unwrap().resource.content.unwrap();
    let before = content(&world);
    let blob = blobs(&world)[0];
    let good = run(world.parts.main.read_all(blob, 0..200)).unwrap().to_vec();
    overwrite(&world, blob, noise(200, 77));
    assert_eq!(kind(run(world.store.compute_digest(id))), ErrorKind::Damaged);
    assert_eq!(kind(maintained(&world)), ErrorKind::Damaged);
    assert_eq!(content(&world), before);
    overwrite(&world, blob, good);
    maintained(&world).unwrap();
    let after = content(&world);
    assert_eq!(after.digests.crc64nvme, Some(crc64nvme(&world.read("/a"))));
    assert!(after.digests.sha256.is_some());
    assert_eq!((after.digests.crc64nvme, after.tag()), (before.digests.crc64nvme, before.tag()));
}

#[test]
fn bytes_that_were_damaged_before_a_digest_was_known_are_not_given_one() {
    let world = world();
    world.put("/a", &noise(200, 1));
    let id = world.write_at("/a", Where::Append, b"x").unwrap().id;
    overwrite(&world, blobs(&world)[0], noise(200, 77));
    assert_eq!(kind(run(world.store.compute_digest(id))), ErrorKind::Damaged);
}

#[test]
fn folding_does_not_hide_damage() {
    let world = world();
    in_parts(&world, "/a", 20);
    let blob = blobs(&world)[7];
    overwrite(&world, blob, noise(200, 77));
    for _ in 0..200 {
        world.write_at("/a", Where::Append, &[1; 100]).unwrap();
    }
    world.sweep();
    assert!(blobs(&world).contains(&blob));
    let found = findings(&world.store, LOOK);
    assert!(found.iter().any(|finding| finding.kind == FindingKind::DamagedBlob), "{found:?}");
}

#[test]
fn more_objects_than_are_looked_at_at_a_time_get_their_digests() {
    let world = world();
    for n in 0..1_100 {
        world.put(&format!("/{n}"), b"a");
        world.write_at(&format!("/{n}"), Where::Append, b"b").unwrap();
    }
    assert_eq!(world.table(b'd').len(), 1_100);
    maintained(&world).unwrap();
    assert_eq!(world.table(b'd').len(), 0);
    assert_clean(&world.store);
}
