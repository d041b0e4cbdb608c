//! Any range of any blob, written in any runs, is that range of its bytes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ops::Range;

use bytes::Bytes;
use cenote_blob::{BlobId, Place};
use futures_util::TryStreamExt;
use proptest::prelude::*;
use proptest::sample::Index;
use tempfile::tempdir;

const ID: BlobId = BlobId::from_bytes([1; 16]);

fn runs() -> impl Strategy<Value = Vec<Bytes>> {
    let run = (0usize..700_000, any::<u8>())
        .prop_map(|(len, seed)| (0..len).map(|n| (n * 7) as u8 ^ seed).collect::<Bytes>());
    let short = proptest::collection::vec(any::<u8>(), 0..100).prop_map(Bytes::from);
    proptest::collection::vec(prop_oneof![run, short], 0..8)
}

async fn written(place: &Place, runs: &[Bytes]) {
    let mut writer = place.writer(ID, []);
    for run in runs {
        writer.write(run.clone()).await.unwrap();
    }
    writer.finish().await.unwrap();
}

async fn check(place: &Place, runs: Vec<Bytes>, edges: [Index; 2]) {
    let whole = runs.concat();
    written(place, &runs).await;
    let mut edges = edges.map(|edge| edge.index(whole.len() + 1));
    edges.sort();
    let range = edges[0] as u64..edges[1] as u64;
    let expected = &whole[edges[0]..edges[1]];
    let chunks: Vec<_> = place.read(ID, range.clone()).try_collect().await.unwrap();
    assert!(chunks.concat() == expected, "{range:?} of {}", whole.len());
    assert!(place.read_all(ID, range.clone()).await.unwrap() == expected, "{range:?}");
    assert!(streamed(place, range.clone()).await == expected, "{range:?} of {}", whole.len());
}

/// Each chunk is dropped before the next is requested, as a socket does.
async fn streamed(place: &Place, range: Range<u64>) -> Vec<u8> {
    let mut chunks = place.read(ID, range);
    let mut bytes = Vec::new();
    while let Some(chunk) = chunks.try_next().await.unwrap() {
        bytes.extend_from_slice(&chunk);
    }
    bytes
}

fn block_on(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test);
}

fn check_ranges_of(place: &Place) {
    let config = ProptestConfig::with_cases(24);
    proptest!(config, |(runs in runs(), edges: [Index; 2])| block_on(check(place, runs, edges)));
}

#[test]
fn ranges_in_memory_are_exact() {
    check_ranges_of(&Place::memory("main"));
}

#[test]
fn ranges_on_a_local_disk_are_exact() {
    let dir = tempdir().unwrap();
    check_ranges_of(&Place::local("main", dir.path()).unwrap());
}

/// What the kernel has in memory is read by another thread than what it has to fetch from the disk.
#[test]
#[cfg(target_os = "linux")]
fn ranges_that_the_kernel_dropped_in_part_are_exact() {
    use rustix::fs::{Advice, fadvise};
    let dir = tempdir().unwrap();
    let place = Place::local("main", dir.path()).unwrap();
    let whole: Bytes = (0..3_000_000_u32).map(|n| (n * 7 + n / 251) as u8).collect();
    block_on(written(&place, std::slice::from_ref(&whole)));
    let files = walk(dir.path()).into_iter().map(|path| std::fs::File::open(path).unwrap());
    let files: Vec<_> = files.filter(|file| file.metadata().unwrap().len() >= 3_000_000).collect();
    assert_eq!(files.len(), 1);
    let edges = proptest::collection::vec(0..3_000_000_u64, 4);
    let config = ProptestConfig::with_cases(48);
    proptest!(config, |(edges in edges)| {
        let [a, b, c, d] = edges[..] else { unreachable!("there are four") };
        let (dropped, range) = (a.min(b)..a.max(b), c.min(d)..c.max(d));
        let length = std::num::NonZeroU64::new(dropped.end - dropped.start);
        // Without a length, all that follows is dropped.
        fadvise(&files[0], dropped.start, length, Advice::DontNeed).unwrap();
        block_on(async {
            let expected = &whole[range.start as usize..range.end as usize];
            assert!(streamed(&place, range.clone()).await == expected, "{range:?}");
        });
    });
}

#[cfg(target_os = "linux")]
fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let inside = |path: std::path::PathBuf| if path.is_dir() { walk(&path) } else { vec![path] };
    entries.flat_map(inside).collect()
}
