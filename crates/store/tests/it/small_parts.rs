//! Uploads of many small parts: their maximum number, and where their bytes are stored.

use std::collections::BTreeMap;

use cenote_store::{ErrorKind, Expected, Limits, Part, Result, UploadId, UploadOptions};
use futures_util::StreamExt;
use proptest::prelude::*;
use sha2::{Digest, Sha256};

use crate::world::{
    LIMITS, World, assert_clean, cases, crc64nvme, kind, noise, once, path, run, world,
};

fn limited(limits: Limits) -> World {
    let mut world = world();
    world.parts.limits = limits;
    world.reopened()
}

fn begin(world: &World) -> UploadId {
    world.store.begin_upload(&world.admin, path("/a"), &UploadOptions::default()).unwrap().id
}

fn part(world: &World, upload: UploadId, offset: usize, bytes: &[u8]) -> Result<Part> {
    let expected = Expected::default();
    run(world.store.put_part(&world.admin, upload, offset as u64, once(bytes), &expected))
}

/// The same in two steps.
fn kept(world: &World, upload: UploadId, offset: usize, bytes: &[u8]) -> Result<Part> {
    let received = run(world.store.receive(once(bytes), &Expected::default())).unwrap();
    run(world.store.keep_part(&world.admin, upload, offset as u64, received))
}

fn stored_blobs(world: &World) -> usize {
    run(world.parts.main.list().count())
}

#[test]
fn no_part_is_accepted_beyond_the_limit_and_none_is_truncated() {
    let world = limited(Limits { parts: 5, ..LIMITS });
    let upload = begin(&world);
    (0..5).for_each(|n| drop(part(&world, upload, n * 100, &[n as u8; 100]).unwrap()));
    assert_eq!(kind(part(&world, upload, 500, &[5; 100])), ErrorKind::TooLarge);
    assert_eq!(kind(kept(&world, upload, 500, &[5; 100])), ErrorKind::TooLarge);
    let may = |offset| world.store.may_keep_part(&world.admin, upload, offset);
    assert_eq!(kind(may(500)), ErrorKind::TooLarge);
    may(400).unwrap();
    kept(&world, upload, 400, &[9; 100]).unwrap();
    assert_eq!(stored_blobs(&world), 6, "what is refused is not kept");
    run(world.store.complete_upload(&world.admin, upload, None)).unwrap();
    assert_eq!(world.read("/a"), [[0; 100], [1; 100], [2; 100], [3; 100], [9; 100]].concat());
    assert_clean(&world.store);
}

#[test]
fn the_limit_applies_per_upload_and_leaves_nothing_behind() {
    let world = limited(Limits { parts: 3, ..LIMITS });
    let counters = world.table(b'c').len();
    for _ in 0..3 {
        let upload = begin(&world);
        (0..3).for_each(|n| drop(part(&world, upload, n * 10, &[1; 10]).unwrap()));
        assert_eq!(kind(part(&world, upload, 30, &[1; 10])), ErrorKind::TooLarge);
        world.store.abandon_upload(&world.admin, upload).unwrap();
        world.sweep();
        assert_eq!(world.table(b'c').len(), counters);
        assert!(world.table(b'p').is_empty() && world.table(b'K').is_empty());
    }
}

#[test]
fn three_hundred_writes_of_64_kib_become_one_blob() {
    let world = limited(Limits::default());
    const WRITE: usize = 64 << 10;
    let bytes = noise(300 * WRITE, 1);
    let upload = begin(&world);
    for (n, write) in bytes.chunks(WRITE).enumerate().rev() {
        kept(&world, upload, n * WRITE, write).unwrap();
    }
    let stat = run(world.store.complete_upload(&world.admin, upload, None)).unwrap();
    let digests = stat.resource.content.unwrap().digests;
    assert_eq!(digests.sha256, Some(Sha256::digest(&bytes).into()), "it was gathered in order");
    assert_eq!(digests.crc64nvme, Some(crc64nvme(&bytes)));
    assert_eq!(stored_blobs(&world), 1);
    world.sweep();
    assert!(world.read("/a") == bytes);
    assert_clean(&world.store);
}

#[test]
fn buffered_parts_of_a_refused_upload_are_not_kept() {
    let world = world();
    let upload = begin(&world);
    (0..10).for_each(|n| drop(part(&world, upload, n * 50, &[n as u8; 50]).unwrap()));
    let complete = |sha256| run(world.store.complete_upload(&world.admin, upload, Some(sha256)));
    assert_eq!(kind(complete([0; 32])), ErrorKind::Mismatch);
    assert_eq!(stored_blobs(&world), 0);
    world.mkdir("/a");
    let whole: Vec<u8> = (0..10).flat_map(|n| [n; 50]).collect();
    assert_eq!(kind(complete(Sha256::digest(&whole).into())), ErrorKind::WrongKind);
    assert_eq!(stored_blobs(&world), 0);
    world.rm("/a").unwrap();
    complete(Sha256::digest(&whole).into()).unwrap();
    assert_eq!(world.read("/a"), whole);
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn overlapping_small_and_large_parts_give_the_written_bytes(
        first in 1usize..100,
        parts in proptest::collection::vec((0usize..300, 1usize..150), 0..12),
    ) {
        let world = world();
        let upload = begin(&world);
        let mut written = BTreeMap::from([(0, vec![255; first])]);
        written.extend((0u8..).zip(&parts).map(|(n, (at, length))| (*at, vec![n; *length])));
        let mut whole: Vec<u8> = Vec::new();
        let mut gap = false;
        for (at, bytes) in &written {
            gap |= *at > whole.len();
            whole.resize(whole.len().max(at + bytes.len()), 0);
            whole[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        for (at, bytes) in written.iter().rev() {
            part(&world, upload, *at, bytes).unwrap();
        }
        let sha256: [u8; 32] = Sha256::digest(&whole).into();
        let completed = run(world.store.complete_upload(&world.admin, upload, Some(sha256)));
        prop_assert_eq!(completed.is_err(), gap);
        if !gap {
            world.sweep();
            prop_assert_eq!(world.read("/a"), whole);
            assert_clean(&world.store);
        }
    }
}
