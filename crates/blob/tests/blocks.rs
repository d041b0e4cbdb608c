//! Checked reads: returned bytes are those written, even if the stored bytes have changed since.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ops::Range;

use bytes::Bytes;
use cenote_blob::{BlobId, Blocks, Damage, Error, Place};
use futures_util::StreamExt;
use proptest::prelude::*;
use proptest::sample::Index;

const ID: BlobId = BlobId::from_bytes([1; 16]);
const BLOCK: usize = 64 << 10;

fn bytes(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at.wrapping_mul(2_654_435_761) >> 11) as u8).collect()
}

async fn write(place: &Place, bytes: &[u8]) -> Blocks {
    let mut writer = place.writer(ID, []);
    writer.write(Bytes::copy_from_slice(bytes)).await.unwrap();
    writer.finish().await.unwrap().blocks
}

/// The bytes received, and the error at the end, if any.
async fn read(place: &Place, range: Range<u64>, blocks: &Blocks) -> (Vec<u8>, Option<Error>) {
    let mut chunks = place.read_checked(ID, range, blocks.clone());
    let (mut came, mut fault) = (Vec::new(), None);
    while let Some(chunk) = chunks.next().await {
        assert!(fault.is_none(), "nothing comes after an error");
        match chunk {
            Ok(chunk) => came.extend_from_slice(&chunk),
            Err(error) => fault = Some(error),
        }
    }
    (came, fault)
}

/// Flips one bit of a blob, then reads a range.
async fn check(place: &Place, size: usize, edges: [Index; 2], flipped: Option<(Index, u8)>) {
    let whole = bytes(size);
    let blocks = write(place, &whole).await;
    let mut edges = edges.map(|edge| edge.index(size + 1));
    edges.sort();
    let range = edges[0]..edges[1];
    let rotten = flipped.map(|(at, bit)| (at.index(size), bit % 8));
    if let Some((at, bit)) = rotten {
        let mut other = whole.clone();
        other[at] ^= 1 << bit;
        write(place, &other).await;
    }
    let (came, fault) = read(place, range.start as u64..range.end as u64, &blocks).await;
    assert!(whole[range.clone()].starts_with(&came), "{range:?} of {size}");
    let touched = |at: usize| {
        let block = at - at % BLOCK;
        !range.is_empty() && block < range.end && range.start < block + BLOCK
    };
    match rotten.filter(|(at, _)| touched(*at)) {
        None => assert!(fault.is_none() && came.len() == range.len(), "{range:?}: {fault:?}"),
        Some((at, _)) => {
            let start = (at - at % BLOCK) as u64;
            let Some(Error::Damaged { damage, .. }) = fault else { panic!("{fault:?}") };
            assert_eq!(damage, Damage::Block { start });
            assert!(came.len() <= (start as usize).saturating_sub(range.start));
        }
    }
}

fn block_on(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test);
}

fn check_flips_in(place: &Place) {
    let flip = proptest::option::weighted(0.8, (any::<Index>(), any::<u8>()));
    let config = ProptestConfig::with_cases(48);
    proptest!(config, |(size in 1usize..1_700_000, edges: [Index; 2], flipped in flip)| {
        block_on(check(place, size, edges, flipped));
    });
}

#[test]
fn no_byte_of_a_corrupt_block_is_returned_from_memory() {
    check_flips_in(&Place::memory("main"));
}

#[test]
fn no_byte_of_a_corrupt_block_is_returned_from_a_local_disk() {
    let dir = tempfile::tempdir().unwrap();
    check_flips_in(&Place::local("main", dir.path()).unwrap());
}

#[test]
fn a_truncated_blob_is_damaged_and_the_remaining_bytes_are_correct() {
    let dir = tempfile::tempdir().unwrap();
    for place in [Place::memory("main"), Place::local("main", dir.path()).unwrap()] {
        block_on(async {
            let whole = bytes(1_000_000);
            let blocks = write(&place, &whole).await;
            write(&place, &whole[..700_000]).await;
            let (came, fault) = read(&place, 100..1_000_000, &blocks).await;
            assert!(whole[100..].starts_with(&came));
            assert!(matches!(fault, Some(Error::Damaged { damage: Damage::Short { .. }, .. })));
        });
    }
}

#[test]
fn inspecting_returns_the_current_digests() {
    block_on(async {
        let place = Place::memory("main");
        let first = write(&place, &bytes(200_000)).await;
        let (_, blocks) = place.inspect(ID, 200_000).await.unwrap();
        assert_eq!(blocks, first);
        write(&place, &[7; 200_000]).await;
        let (digests, blocks) = place.inspect(ID, 200_000).await.unwrap();
        assert!(blocks != first && blocks.sums().last() == Some(&digests.crc64nvme));
    });
}
