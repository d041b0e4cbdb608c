//! A short range on a local disk is read on the thread that asks for it, if that may block.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::ops::Range;

use bytes::Bytes;
use cenote_blob::{BlobId, Blocks, Damage, Error, Place, read_here};
use futures_util::{FutureExt, TryStreamExt};
use proptest::prelude::*;
use tempfile::tempdir;

const ID: BlobId = BlobId::from_bytes([7; 16]);
const SIZE: usize = 700_000;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Writes a blob, and returns its bytes and the checksums of its blocks.
fn written(place: &Place) -> (Vec<u8>, Blocks) {
    let bytes: Vec<u8> = (0..SIZE).map(|at| (at / 3) as u8).collect();
    let blocks = block_on(async {
        let mut writer = place.writer(ID, []);
        writer.write(Bytes::from(bytes.clone())).await.unwrap();
        writer.finish().await.unwrap();
        place.inspect(ID, SIZE as u64).await.unwrap().1
    });
    (bytes, blocks)
}

/// The bytes of a range that are there when it is first polled: no other thread can have read them, as there is no runtime.
fn at_once(place: &Place, range: Range<u64>, blocks: &Blocks) -> Option<Bytes> {
    let mut chunks = place.read_checked(ID, range, blocks.clone());
    let first = read_here(|| chunks.try_next().now_or_never())?.unwrap();
    assert!(chunks.try_next().now_or_never()?.unwrap().is_none(), "one chunk is the whole range");
    first
}

#[test]
fn any_short_range_is_there_at_once_and_exact() {
    let dir = tempdir().unwrap();
    let place = Place::local("main", dir.path()).unwrap();
    let (bytes, blocks) = written(&place);
    proptest!(ProptestConfig::with_cases(200), |(start in 0..SIZE - 1, length in 1..100_000_usize)| {
        let range = start..SIZE.min(start + length);
        let read = at_once(&place, range.start as u64..range.end as u64, &blocks);
        prop_assert!(read.is_some_and(|read| read == bytes[range.clone()]), "{range:?}");
    });
}

#[test]
fn without_leave_to_block_another_thread_reads_the_same_bytes() {
    let dir = tempdir().unwrap();
    let place = Place::local("main", dir.path()).unwrap();
    let (bytes, blocks) = written(&place);
    let read = block_on(async {
        let mut chunks = place.read_checked(ID, 100..5_000, blocks.clone());
        assert!(chunks.try_next().now_or_never().is_none(), "this thread must not block");
        chunks.try_next().await.unwrap().unwrap()
    });
    assert!(read == bytes[100..5_000]);
    read_here(|| ());
    let ready = block_on(async { place.read(ID, 0..9).try_next().now_or_never() });
    assert!(ready.is_none(), "leave to block ends with the work");
}

#[test]
fn a_damaged_short_or_missing_file_is_reported_as_ever() {
    let dir = tempdir().unwrap();
    let place = Place::local("main", dir.path()).unwrap();
    let (mut bytes, blocks) = written(&place);
    let file = place.local_path(ID).unwrap();
    let fault = |range: Range<u64>| {
        let read = async || place.read_checked(ID, range.clone(), blocks.clone()).try_next().await;
        let elsewhere = block_on(read()).unwrap_err().to_string();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let here = read_here(|| runtime.block_on(read())).unwrap_err();
        assert_eq!(here.to_string(), elsewhere);
        here
    };
    bytes[70_000] ^= 1;
    fs::write(&file, &bytes).unwrap();
    let damaged = fault(66_000..67_000);
    let is_of_the_block =
        matches!(damaged, Error::Damaged { damage: Damage::Block { start: 65_536 }, .. });
    assert!(is_of_the_block, "{damaged}");
    fs::write(&file, &bytes[..1_000]).unwrap();
    assert!(matches!(fault(0..10), Error::Damaged { damage: Damage::Short { .. }, .. }));
    fs::remove_file(&file).unwrap();
    assert!(matches!(fault(0..10), Error::NotFound { .. }));
}
