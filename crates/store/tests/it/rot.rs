//! Corruption of contents: a read returns the stored bytes or an error; damage is found, marked and
//! repaired.

use std::time::Duration;

use cenote_blob::BlobId;
use cenote_store::{CheckOptions, ErrorKind, Pace, ReadOptions, Registration, Where};
use futures_util::StreamExt;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::raw::named;
use crate::world::{
    World, assert_clean, at, cases, findings, noise, path, run, world, world_with_places,
};

/// The bytes received of a range, and whether they are complete.
fn read(world: &World, from: &str, range: std::ops::Range<u64>) -> (Vec<u8>, Option<ErrorKind>) {
    let opened = world.store.open(&world.admin, &at(from), &ReadOptions::default()).unwrap();
    run(async {
        let (mut chunks, mut came) = (opened.bytes(range).unwrap(), Vec::new());
        while let Some(chunk) = chunks.next().await {
            match chunk {
                Ok(chunk) => came.extend_from_slice(&chunk),
                Err(error) => return (came, Some(error.kind())),
            }
        }
        (came, None)
    })
}

fn maintained(world: &World) {
    let zero = Duration::ZERO;
    let pace = Pace { grace: zero, orphans: zero, quiet: zero, ..Pace::default() };
    world.clock.advance(Duration::from_secs(1));
    let _ = world.store.trim_changes(world.store.now());
    // An unreadable content has no digest, which is an error.
    let _ = run(world.store.maintain_once(&pace));
}

fn blobs(world: &World) -> Vec<BlobId> {
    let keys = world.table(b'B');
    keys.iter().map(|key| BlobId::from_bytes(key[1..].try_into().unwrap())).collect()
}

/// Flips a bit of a copy of a blob.
fn flip(world: &World, place: &str, blob: BlobId, at: Index, bit: u8) {
    let place = world.opened(place);
    run(async {
        let size = place.size(blob).await.unwrap().unwrap();
        let mut bytes = place.read_all(blob, 0..size).await.unwrap().to_vec();
        bytes[at.index(size as usize)] ^= 1 << bit;
        let mut writer = place.writer(blob, []);
        writer.write(bytes.into()).await.unwrap();
        writer.finish().await.unwrap();
    });
}

/// How an object was created.
#[derive(Debug, Clone)]
enum Made {
    Put(usize),
    Patched(usize, Vec<(Index, usize)>),
    InParts(Vec<usize>),
    Folded(usize),
}

fn made() -> impl Strategy<Value = Made> {
    let size = || prop_oneof![65usize..1_000, 60_000usize..900_000];
    prop_oneof![
        size().prop_map(Made::Put),
        (size(), prop::collection::vec((any::<Index>(), size()), 1..4))
            .prop_map(|(size, patches)| Made::Patched(size, patches)),
        prop::collection::vec(size(), 1..5).prop_map(Made::InParts),
        (70_000usize..200_000).prop_map(Made::Folded),
    ]
}

/// Creates `/x`, and returns its bytes.
fn make(world: &World, made: &Made) -> Vec<u8> {
    match made {
        Made::Put(size) => {
            let bytes = noise(*size, 1);
            world.put("/x", &bytes);
            bytes
        }
        Made::Patched(size, patches) => {
            let mut bytes = make(world, &Made::Put(*size));
            for (seed, (at, size)) in patches.iter().enumerate() {
                let (at, patch) = (at.index(bytes.len()), noise(*size, seed as u64 + 2));
                world.write_at("/x", Where::Offset(at as u64), &patch).unwrap();
                bytes.resize(bytes.len().max(at + patch.len()), 0);
                bytes[at..at + patch.len()].copy_from_slice(&patch);
            }
            bytes
        }
        Made::InParts(sizes) => {
            let upload = crate::uploads::begin(world, "/x", Default::default()).unwrap().id;
            let mut bytes = Vec::new();
            for size in sizes {
                let part = noise(*size, bytes.len() as u64);
                crate::uploads::part(world, upload, bytes.len(), &part).unwrap();
                bytes.extend(part);
            }
            crate::uploads::complete(world, upload, None).unwrap();
            bytes
        }
        Made::Folded(size) => {
            let mut bytes = make(world, &Made::Put(*size));
            for n in 0..64 {
                world.write_at("/x", Where::Append, &noise(2_000, n)).unwrap();
                bytes.extend(noise(2_000, n));
            }
            bytes
        }
    }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn corrupt_blocks_are_never_returned_but_read_and_repaired_from_another_copy(
        made in made(),
        copies in 1usize..3,
        (which, at, bit) in (any::<Index>(), any::<Index>(), 0u8..8),
        edges: [Index; 2],
    ) {
        let world = world_with_places();
        let bytes = make(&world, &made);
        if copies > 1 {
            world.replicate("/x", "a").unwrap();
        }
        let blobs = blobs(&world);
        let blob = blobs[which.index(blobs.len())];
        flip(&world, "main", blob, at, bit);
        let mut edges = edges.map(|edge| edge.index(bytes.len() + 1));
        edges.sort();
        for range in [edges[0]..edges[1], 0..bytes.len()] {
            let (came, fault) = read(&world, "/x", range.start as u64..range.end as u64);
            let right = &bytes[range];
            prop_assert!(right.starts_with(&came), "other bytes were given");
            prop_assert!(fault.is_none() == (came.len() == right.len()));
            prop_assert!(copies == 1 || fault.is_none());
        }
        let found = world.store.damage_counts().found;
        // The first round may find more damage in blocks that are no longer read and have no other copy.
        maintained(&world);
        maintained(&world);
        let after = world.store.damage_counts();
        if run(world.opened("a").size(blob)).unwrap().is_some() {
            prop_assert_eq!((after.damaged, after.mended), (0, after.found.min(1)));
            let found = findings(&world.store, CheckOptions { repair: true, contents: 100 });
            prop_assert!(found.iter().all(|finding| finding.repaired), "{found:?}");
            assert_clean(&world.store);
        } else {
            prop_assert!(after.damaged >= found.min(1));
        }
    }
}

/// The blobs whose blocks have no checksums.
fn unsummed(world: &World) -> usize {
    let summed = |blob: &BlobId| {
        let key = named(b'e', &[], &[&blob.to_bytes()[..], &[0; 4]].concat());
        let size = run(world.parts.main.size(*blob)).unwrap().unwrap();
        size <= 64 << 10 || world.table(b'e').contains(&key.into())
    };
    blobs(world).iter().filter(|blob| !summed(blob)).count()
}

#[test]
fn every_way_to_create_a_blob_writes_block_checksums_that_are_removed_with_it() {
    let sizes = vec![70_000, 200, 300_000, 40_000];
    for made in [
        Made::Put(300_000),
        Made::InParts(sizes),
        Made::Folded(100_000),
        Made::InParts(vec![60; 3_000]),
    ] {
        let world = world();
        let bytes = make(&world, &made);
        assert!(!blobs(&world).is_empty() && unsummed(&world) == 0, "{made:?}");
        assert!(world.read("/x") == bytes, "{made:?}");
        assert_clean(&world.store);
        world.rm("/x").unwrap();
        world.sweep();
        assert_eq!((world.table(b'B').len(), world.table(b'e').len()), (0, 0), "{made:?}");
    }
}

#[test]
fn irreparable_damage_is_marked_until_the_blob_is_removed() {
    let world = world_with_places();
    world.put("/x", &noise(200_000, 1));
    world.cp("/x", "/y").unwrap();
    world.put("/z", &noise(200_000, 2));
    let blob = BlobId::from_bytes(
        world
            .table(b'b')
            .iter()
            .find(|key| key[17..] == world.content("/x").to_be_bytes())
            .unwrap()[1..17]
            .try_into()
            .unwrap(),
    );
    let good = run(world.parts.main.read_all(blob, 0..200_000)).unwrap();
    crate::raw::overwrite(&world, blob, noise(200_000, 9));
    let damaged = |world: &World, of: &str| {
        let head = world.stat(of).unwrap().resource.content.unwrap();
        world.store.is_damaged(&head).unwrap()
    };
    assert_eq!(read(&world, "/x", 0..100), (Vec::new(), Some(ErrorKind::Damaged)));
    assert!(damaged(&world, "/x") && damaged(&world, "/y") && !damaged(&world, "/z"));
    maintained(&world);
    let world = world.reopened();
    assert!(damaged(&world, "/x") && damaged(&world, "/y") && !damaged(&world, "/z"));
    let found = world.store.damaged(&world.admin).unwrap();
    assert_eq!((found.len(), found[0].blob, &*found[0].place), (1, blob, "main"));
    assert_eq!(found[0].objects, [path("/x"), path("/y")]);
    assert!(found[0].what.contains("the block at byte 0 has other bytes"), "{}", found[0].what);
    let user = world.user("u");
    assert_eq!(world.store.damaged(&user).unwrap_err().kind(), ErrorKind::Denied);
    crate::raw::overwrite(&world, blob, good.to_vec());
    assert_eq!(read(&world, "/x", 0..100), (noise(200_000, 1)[..100].to_vec(), None));
    maintained(&world);
    assert!(!damaged(&world, "/x") && world.store.damaged(&world.admin).unwrap().is_empty());
    assert!(world.table(b'D').is_empty());
    assert_clean(&world.store);
}

#[test]
fn a_changed_registered_file_is_damaged_and_never_written() {
    let (world, dir) = (world_with_places(), tempfile::tempdir().unwrap());
    let file = dir.path().join("f").to_str().unwrap().to_owned();
    std::fs::write(&file, noise(300_000, 1)).unwrap();
    let place = world.place("a");
    let (size, sha256, additional, replace) = (None, None, false, false);
    let registration =
        Registration { place, file: file.clone(), size, sha256, additional, replace };
    run(world.store.register(&world.admin, &path("/r"), &registration)).unwrap();
    maintained(&world);
    assert!(world.read("/r") == noise(300_000, 1));
    let mut changed = noise(300_000, 1);
    changed[150_000] ^= 1;
    std::fs::write(&file, &changed).unwrap();
    assert_eq!(read(&world, "/r", 10..1_000).1, None);
    assert_eq!(read(&world, "/r", 149_000..151_000).1, Some(ErrorKind::Damaged));
    maintained(&world);
    assert_eq!(world.store.damaged(&world.admin).unwrap()[0].objects, [path("/r")]);
    assert!(std::fs::read(&file).unwrap() == changed);
}

#[test]
fn a_scrub_finds_damage_in_unread_blocks_and_resumes_after_a_restart() {
    let world = world_with_places();
    for n in 0..70 {
        world.put(&format!("/{n}"), &noise(70_000, n));
        world.replicate(&format!("/{n}"), "a").unwrap();
    }
    let rotten = blobs(&world)[30];
    let size = run(world.opened("a").size(rotten)).unwrap().unwrap() as usize;
    run(async {
        let mut writer = world.opened("a").writer(rotten, []);
        writer.write(noise(size, 99).into()).await.unwrap();
        writer.finish().await.unwrap();
    });
    assert_eq!(world.store.scrub_status(&world.admin).unwrap(), None);
    let begun = world.store.start_scrub(&world.admin).unwrap();
    assert_eq!((begun.ended, begun.percent, begun.blobs), (None, 0, 0));
    let world = world.reopened();
    let ended = run(world.store.scrub(0)).unwrap();
    assert_eq!((ended.begun, ended.percent, ended.damaged), (begun.begun, 100, 1));
    assert_eq!((ended.blobs, ended.bytes), (70, 2 * 70 * 70_000));
    assert_eq!(world.store.scrub_status(&world.admin).unwrap(), Some(ended));
    assert_eq!(world.store.damage_counts().damaged, 1);
    maintained(&world);
    assert_eq!(world.store.damage_counts().damaged, 0);
    assert_eq!(run(world.store.scrub(0)).unwrap().damaged, 0);
    assert_clean(&world.store);
    assert_eq!(world.store.start_scrub(&world.user("u")).unwrap_err().kind(), ErrorKind::Denied);
}

/// Corrupts the middle of some blocks of a copy.
fn rot(world: &World, place: &str, blob: BlobId, is_rotten: impl Fn(usize) -> bool) {
    let place = world.opened(place);
    run(async {
        let size = place.size(blob).await.unwrap().unwrap();
        let mut bytes = place.read_all(blob, 0..size).await.unwrap().to_vec();
        for (_, block) in bytes.chunks_mut(BLOCK).enumerate().filter(|(n, _)| is_rotten(*n)) {
            block[block.len() / 2] ^= 1;
        }
        let mut writer = place.writer(blob, []);
        writer.write(bytes.into()).await.unwrap();
        writer.finish().await.unwrap();
    });
}

const BLOCK: usize = 64 << 10;

proptest! {
    #![proptest_config(cases(24))]

    /// For each block: no copy is corrupt, the first, the second, or both.
    #[test]
    fn copies_with_different_corrupt_blocks_repair_each_other(
        rotten in prop::collection::vec(prop_oneof![6 => Just(0), 2 => Just(1), 2 => Just(2)], 2..30),
        lost in proptest::option::weighted(0.2, any::<Index>()),
    ) {
        let mut rotten = rotten;
        if let Some(lost) = lost {
            let lost = lost.index(rotten.len());
            rotten[lost] = 3;
        }
        let world = world_with_places();
        let bytes = noise(rotten.len() * BLOCK - 1_000, 1);
        world.put("/x", &bytes);
        world.replicate("/x", "a").unwrap();
        let blob = blobs(&world)[0];
        rot(&world, "main", blob, |n| rotten[n] & 1 > 0);
        rot(&world, "a", blob, |n| rotten[n] & 2 > 0);
        let damaged = [1, 2].iter().filter(|copy| rotten.iter().any(|of| of & **copy > 0)).count();
        let right = rotten.iter().position(|of| *of == 3).map_or(bytes.len(), |lost| lost * BLOCK);
        let (came, fault) = read(&world, "/x", 0..bytes.len() as u64);
        prop_assert!(came == bytes[..right], "{} of {right} bytes came", came.len());
        prop_assert_eq!(fault.is_some(), right < bytes.len());
        run(world.store.scrub(0)).unwrap();
        maintained(&world);
        maintained(&world);
        let counts = world.store.damage_counts();
        if right < bytes.len() {
            prop_assert_eq!((counts.damaged, counts.mended), (2, 0));
            return Ok(());
        }
        prop_assert_eq!((counts.damaged, counts.mended), (0, damaged as u64));
        for place in ["main", "a"] {
            let copy = run(world.opened(place).read_all(blob, 0..bytes.len() as u64)).unwrap();
            prop_assert!(copy == bytes, "{place}");
        }
        assert_clean(&world.store);
    }
}

/// Otherwise upkeep would schedule itself, round after round without a pause.
#[test]
fn irreparable_damage_is_not_retried_until_it_is_read_again() {
    for copies in [1, 2] {
        let world = world_with_places();
        world.put("/x", &noise(300_000, 1));
        let places = &["main", "a"][..copies];
        if copies > 1 {
            world.replicate("/x", "a").unwrap();
        }
        let blob = blobs(&world)[0];
        places.iter().for_each(|place| rot(&world, place, blob, |n| n == 2));
        run(world.store.scrub(0)).unwrap();
        maintained(&world);
        maintained(&world);
        let before = world.store.damage_counts();
        assert_eq!((before.damaged, before.mended), (copies as u64, 0));
        maintained(&world);
        assert_eq!(world.store.damage_counts().found, before.found, "{copies} copies");
    }
}

#[test]
fn a_scrub_reads_the_whole_catalog_and_counts_every_corrupt_record() {
    let world = world();
    for n in 0..300 {
        world.put(&format!("/{n}"), &noise(n * 30, 1));
    }
    world.put("/large", &noise(70_000, 1));
    // Checksums of blocks are recomputed from the bytes; counters and settings are numbers without a
    // checksum.
    let tables = b"NCKBUuFL";
    let found = tables.iter().filter(|table| {
        let keys = world.table(**table);
        let Some(key) = keys.last() else { return false };
        let (value, before) = (world.value(key), world.store.damage_counts().rows);
        assert_eq!(run(world.store.scrub(0)).unwrap().damaged, 0);
        world.damage(key);
        assert_eq!(run(world.store.scrub(0)).unwrap().damaged, 1, "{}", char::from(**table));
        assert!(world.store.damage_counts().rows > before);
        world.raw_put(key.to_vec(), value);
        true
    });
    assert!(found.count() >= 7);
    let before = world.store.damage_counts().rows;
    world.damage(world.table(b'K').last().unwrap());
    let opened = world.store.open(&world.admin, &at("/large"), &ReadOptions::default());
    assert_eq!(opened.unwrap_err().kind(), ErrorKind::Damaged);
    assert!(world.store.damage_counts().rows > before);
}

/// Removes the checksums of all blobs, as in a store of an earlier version without them.
fn without_checksums(world: &World) {
    for key in world.table(b'e') {
        world.raw_delete(&key);
    }
    for key in world.table(b'B') {
        // The fourth field, 65,536, is removed from the end of an array of four.
        let value = world.value(&key);
        if let Some(fields) = value[6..].strip_suffix(&[0x1a, 0, 1, 0, 0]) {
            let body = [&[0x83], fields].concat();
            let sum = crc32c::crc32c(&body).to_le_bytes();
            world.raw_put(key.to_vec(), [&[1][..], &sum, &body].concat().into());
        }
    }
}

#[test]
fn a_store_without_checksums_gets_them_except_for_corrupt_bytes() {
    let world = world_with_places();
    for n in 0..4 {
        world.put(&format!("/{n}"), &noise(200_000, n));
    }
    without_checksums(&world);
    assert_eq!((world.table(b'e').len(), unsummed(&world)), (0, 4));
    let rotten = blobs(&world)[2];
    crate::raw::overwrite(&world, rotten, noise(200_000, 9));
    run(world.store.sum_blobs(0)).unwrap();
    assert_eq!((world.table(b'e').len(), unsummed(&world)), (3, 1));
    maintained(&world);
    assert_eq!(world.store.damaged(&world.admin).unwrap()[0].blob, rotten);
    let found = findings(&world.store, CheckOptions { repair: true, contents: 100 });
    assert!(found.iter().all(|finding| finding.id == rotten.to_string()), "{found:?}");
    assert_eq!(unsummed(&world), 1);
}

#[test]
fn lost_checksums_are_an_error_until_a_scrub_recomputes_them() {
    let world = world();
    world.put("/x", &noise(200_000, 1));
    world.damage(&world.first(b'e'));
    assert_eq!(read(&world, "/x", 5..7), (Vec::new(), Some(ErrorKind::Damaged)));
    assert_eq!(run(world.store.scrub(0)).unwrap().damaged, 0);
    assert_eq!(read(&world, "/x", 5..7), (noise(200_000, 1)[5..7].to_vec(), None));
    assert_clean(&world.store);
}

/// The record of a blob and an extent in it disagree: the read ends with an error.
#[test]
fn an_extent_that_is_longer_than_its_blob_is_damage() {
    let world = world();
    world.put("/long", &noise(1_000, 1));
    let long = blobs(&world);
    world.put("/short", &noise(500, 2));
    let short = blobs(&world).into_iter().find(|blob| !long.contains(blob)).unwrap();
    let record = world.value(&named(b'B', &[], &short.to_bytes()));
    world.raw_put(named(b'B', &[], &long[0].to_bytes()), record);
    for range in [0..1_000, 600..1_000] {
        assert_eq!(read(&world, "/long", range).1, Some(ErrorKind::Damaged));
    }
}
