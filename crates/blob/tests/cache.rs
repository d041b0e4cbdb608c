//! The cache of a place: the same bytes as without it, whatever is in its files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use cenote_blob::{BlobId, Blocks, Error, Place};
use futures_util::TryStreamExt;
use proptest::prelude::*;

const ID: BlobId = BlobId::from_bytes([3; 16]);
const PIECE: usize = 512 << 10;
const LARGE: u64 = 1 << 30;

fn noise(size: usize) -> Vec<u8> {
    (0..size as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// A place with a blob, and its checksums.
async fn place_with(bytes: &[u8]) -> (Place, Blocks) {
    let place = Place::memory("bucket");
    let mut writer = place.writer(ID, []);
    writer.write(Bytes::copy_from_slice(bytes)).await.unwrap();
    writer.finish().await.unwrap();
    let (_, blocks) = place.inspect(ID, bytes.len() as u64).await.unwrap();
    (place, blocks)
}

async fn read(
    place: &Place,
    range: std::ops::Range<usize>,
    blocks: &Blocks,
) -> Result<Vec<u8>, Error> {
    let range = range.start as u64..range.end as u64;
    let chunks: Vec<Bytes> = place.read_cached(ID, range, blocks.clone()).try_collect().await?;
    Ok(chunks.concat())
}

/// Those that are complete.
fn files(dir: &Path) -> Vec<PathBuf> {
    let fans = fs::read_dir(dir).unwrap().map(|fan| fan.unwrap().path());
    let files = fans.flat_map(|fan| fs::read_dir(fan).unwrap());
    let files = files.map(|file| file.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_none()).collect();
    files.sort();
    files
}

#[tokio::test]
async fn what_was_read_is_read_again_without_the_place_also_by_the_next_process() {
    let bytes = noise(3 * PIECE + 70_000);
    let (place, blocks) = place_with(&bytes).await;
    let dir = tempfile::tempdir().unwrap();
    let cached = place.clone().with_cache(dir.path(), LARGE).unwrap();
    // A read ends without waiting for the last pieces to be written.
    for reads in 0.. {
        assert_eq!(read(&cached, 0..bytes.len(), &blocks).await.unwrap(), bytes);
        if files(dir.path()).len() == 4 {
            break;
        }
        assert!(reads < 1_000, "not all pieces are kept");
    }
    place.delete(ID).await.unwrap();
    let next = place.with_cache(dir.path(), LARGE).unwrap();
    for place in [&cached, &next] {
        assert_eq!(read(place, 0..bytes.len(), &blocks).await.unwrap(), bytes);
        let part = PIECE - 10..2 * PIECE + 10;
        assert_eq!(read(place, part.clone(), &blocks).await.unwrap(), &bytes[part]);
    }
    cached.delete(ID).await.unwrap();
    assert!(files(dir.path()).is_empty());
}

#[tokio::test]
async fn whatever_happens_to_the_files_the_bytes_are_those_of_the_place() {
    let bytes = noise(2 * PIECE + 5);
    let (place, blocks) = place_with(&bytes).await;
    let dir = tempfile::tempdir().unwrap();
    let cached = place.with_cache(dir.path(), LARGE).unwrap();
    for damage in [&[][..], b"some bytes", &[0; PIECE + 16]] {
        assert_eq!(read(&cached, 0..bytes.len(), &blocks).await.unwrap(), bytes);
        for file in files(dir.path()) {
            fs::write(file, damage).unwrap();
        }
    }
    for file in files(dir.path()) {
        // A read that was begun ahead may have removed it as damaged.
        let _ = fs::remove_file(file);
    }
    assert_eq!(read(&cached, 0..bytes.len(), &blocks).await.unwrap(), bytes);
}

/// A place that answers with other bytes once is not believed for longer.
#[tokio::test]
async fn bytes_that_do_not_match_their_checksums_do_not_stay() {
    let (bytes, mut wrong) = (noise(PIECE), noise(PIECE));
    wrong[7] ^= 1;
    let (place, _) = place_with(&wrong).await;
    let (right, blocks) = place_with(&bytes).await;
    let dir = tempfile::tempdir().unwrap();
    let cached = place.with_cache(dir.path(), LARGE).unwrap();
    let refused = read(&cached, 0..bytes.len(), &blocks).await.unwrap_err();
    assert!(matches!(refused, Error::Damaged { .. }), "{refused}");
    assert!(files(dir.path()).is_empty());
    let mended = right.with_cache(dir.path(), LARGE).unwrap();
    assert_eq!(read(&mended, 0..bytes.len(), &blocks).await.unwrap(), bytes);
}

#[tokio::test]
async fn a_cache_whose_directory_is_gone_costs_nothing_but_time() {
    let bytes = noise(PIECE + 9);
    let (place, blocks) = place_with(&bytes).await;
    let dir = tempfile::tempdir().unwrap();
    let cached = place.with_cache(dir.path().join("cache"), LARGE).unwrap();
    fs::remove_dir_all(dir.path()).unwrap();
    fs::write(dir.path(), "a file in its place").unwrap();
    assert_eq!(read(&cached, 0..bytes.len(), &blocks).await.unwrap(), bytes);
    fs::remove_file(dir.path()).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_ranges_in_any_order_are_those_of_the_blob(
        size in 1..4 * PIECE,
        most in 0..5 * PIECE as u64,
        ranges in prop::collection::vec((0.0..1.0, 0.0..1.0), 1..8),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let bytes = noise(size);
            let (place, blocks) = place_with(&bytes).await;
            let dir = tempfile::tempdir().unwrap();
            let cached = place.with_cache(dir.path(), most).unwrap();
            for (from, length) in ranges {
                let start = (from * size as f64) as usize;
                let end = start + (length * (size - start) as f64) as usize;
                let found = read(&cached, start..end, &blocks).await.unwrap();
                assert!(found == bytes[start..end], "{start}..{end} of {size}");
                // A read of a part ends without waiting for the last pieces to be written: they may replace others meanwhile.
                let kept = files(dir.path()).into_iter().filter_map(|file| file.metadata().ok());
                let kept: u64 = kept.map(|file| file.len()).sum();
                assert!(kept <= most, "{kept} of {most}");
            }
        });
    }
}
