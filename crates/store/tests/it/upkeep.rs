//! The background work of a store: one failing task does not block others, and damage is never hidden.

use std::time::Duration;

use bytes::Bytes;
use cenote_blob::{BlobId, append_crc64nvme, crc64nvme_of_zeros};
use cenote_store::{
    CheckOptions, ContentHead, ErrorKind, FindingKind, Limits, Pace, PutOptions, ResourceId,
    UploadOptions, Where,
};

use crate::raw::{key, overwrite};
use crate::uploads::{begin, complete, part};
use crate::world::{
    LIMITS, World, assert_clean, at, crc64nvme, findings, kind, noise, once, path, run, world,
    world_with_places,
};

const LOOK: CheckOptions = CheckOptions { repair: false, contents: 100 };

fn impatient() -> Pace {
    let zero = Duration::ZERO;
    Pace { grace: zero, orphans: zero, quiet: zero, ..Pace::default() }
}

fn maintained(world: &World) -> cenote_store::Result<()> {
    world.clock.advance(Duration::from_secs(1));
    run(world.store.maintain_once(&impatient()))
}

/// An object whose content was uploaded in parts, the last one first, each in a blob.
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
fn a_damaged_record_does_not_block_sweeping_others() {
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
fn bytes_corrupted_by_a_disk_get_no_digest() {
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
fn bytes_damaged_before_their_digest_was_known_get_none() {
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
fn more_objects_than_one_pass_examines_get_their_digests() {
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

const PIB: u64 = 1 << 50;

/// With contents of up to 1 PiB.
fn vast_world() -> World {
    world_with_places().with_limits(Limits { content: PIB, ..LIMITS })
}

fn content(world: &World, of: &str) -> ContentHead {
    world.stat(of).unwrap().resource.content.unwrap()
}

/// Bytes, a hole up to 1 PiB, and bytes within it.
#[test]
fn a_hole_of_a_pebibyte_gets_a_crc_without_delay() {
    let world = vast_world();
    let bytes = noise(1_000, 1);
    world.put("/vast", &bytes);
    world.truncate("/vast", PIB).unwrap();
    world.write_at("/vast", Where::Offset(PIB / 2), b"middle").unwrap();
    for _ in 0..2 {
        maintained(&world).unwrap();
        let digests = content(&world, "/vast").digests;
        let zeros = |length| crc64nvme_of_zeros(length);
        let after = [(crc64nvme(&bytes), 1_000), (zeros(PIB / 2 - 1_000), PIB / 2 - 1_000)];
        let after =
            after.into_iter().chain([(crc64nvme(b"middle"), 6), (zeros(PIB / 2 - 6), PIB / 2 - 6)]);
        let crc = after.fold(0, |whole, (crc, length)| append_crc64nvme(whole, crc, length));
        assert_eq!((digests.sha256, digests.crc64nvme), (None, Some(crc)));
    }
    assert_eq!(world.read_range("/vast", PIB / 2 - 2..PIB / 2 + 3), b"\0\0mid");
    assert_eq!(world.read_range("/vast", PIB - 3..PIB), [0; 3]);
    world.replicate("/vast", "a").unwrap();
    let stored = |world: &World| world.store.places().unwrap().iter().map(|p| p.bytes).sum::<u64>();
    assert!(stored(&world) < 10_000, "no place keeps a hole");
    world.cp("/vast", "/copy").unwrap();
    assert_eq!(content(&world, "/copy").digests, content(&world, "/vast").digests);
    assert_clean(&world.store);
}

/// The counters of this many overflow an integer.
#[test]
fn sums_of_huge_contents_do_not_overflow() {
    let world = vast_world();
    world.mkdir("/c");
    world.put("/c/0", b"");
    world.truncate("/c/0", PIB).unwrap();
    for n in 1..8_200 {
        world.cp("/c/0", &format!("/c/{n}")).unwrap();
    }
    let usage = world.store.usage(&world.admin, &at("/c")).unwrap();
    assert_eq!((usage.objects, usage.bytes), (8_200, 8_200 * PIB));
    assert_eq!(world.store.stats(&world.admin).unwrap().bytes, Some(8_200 * PIB));
    world.rm_all("/c").unwrap();
    world.sweep();
    assert_eq!(world.store.stats(&world.admin).unwrap().bytes, Some(0));
    assert_clean(&world.store);
}

/// Hashing the zeros of one takes a minute; the other is created once that has started.
#[test]
fn a_long_computation_does_not_delay_the_digest_of_another_content() {
    let world = world().with_limits(Limits { content: PIB, ..LIMITS });
    world.put("/long", b"");
    world.truncate("/long", 60 << 30).unwrap();
    let known = |of: &str| content(&world, of).digests.sha256.is_some();
    let pace = Pace { round: Duration::from_millis(1), ..impatient() };
    let watch = async {
        for round in 0.. {
            tokio::task::yield_now().await;
            world.clock.advance(Duration::from_secs(1));
            if round == 1_000 {
                let (short, options) = (path("/short"), PutOptions::default());
                world.store.put(&world.admin, &short, once(b"a"), options).await.unwrap();
                world.truncate("/short", 1_000).unwrap();
            }
            if round > 1_000 && known("/short") {
                return known("/long");
            }
        }
        unreachable!()
    };
    let maintained = world.store.maintain(pace);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let long_is_known = runtime.block_on(async {
        tokio::select! {
            () = maintained => unreachable!(),
            known = watch => known,
        }
    });
    assert!(!long_is_known);
    // Does not wait for the hashing on another thread.
    runtime.shutdown_background();
}
