//! Every call can move between the threads of a server, and many calls take few threads.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use bytes::Bytes;
use cenote_blob::{BlobId, Place};
use futures_util::TryStreamExt;
use tokio::sync::Barrier;

const ID: BlobId = BlobId::from_bytes([3; 16]);

async fn every_call(place: Place) {
    let mut writer = place.writer(ID, []);
    writer.write(Bytes::from_static(b"water")).await.unwrap();
    let written = writer.finish().await.unwrap();
    place.writer(ID, []).abort().await;
    assert_eq!(place.size(ID).await.unwrap(), Some(5));
    assert_eq!(place.read_all(ID, 0..5).await.unwrap(), "water");
    let mut chunks = place.read_verified(ID, 5, written.digests.sha256.unwrap());
    assert_eq!(chunks.try_next().await.unwrap().unwrap(), "water");
    assert!(place.list().try_next().await.unwrap().is_some());
    place.sweep_staged(std::time::SystemTime::UNIX_EPOCH).await.unwrap();
    place.delete(ID).await.unwrap();
}

#[tokio::test]
async fn calls_are_spawned() {
    tokio::spawn(every_call(Place::memory("main"))).await.unwrap();
}

#[cfg(target_os = "linux")]
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// Writes 4 MiB; the most threads there were meanwhile. It finishes when all have written: each file is synced at the same time.
#[cfg(target_os = "linux")]
async fn threads_while_writing(place: Place, id: u8, all: Arc<Barrier>) -> usize {
    let mut writer = place.writer(BlobId::from_bytes([id; 16]), []);
    let mut most = 0;
    for _ in 0..8 {
        writer.write(Bytes::from(vec![id; 512 << 10])).await.unwrap();
        most = most.max(threads());
    }
    all.wait().await;
    assert_eq!(writer.finish().await.unwrap().size, 4 << 20);
    most
}

/// Each thread keeps memory that it once used, so a thread for each run of bytes would cost more than the bytes.
#[test]
#[cfg(target_os = "linux")]
fn many_writers_share_a_few_threads() {
    const WRITERS: u8 = 100;
    let dir = tempfile::tempdir().unwrap();
    let place = Place::local("main", dir.path()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let most = runtime.block_on(async {
        let all = Arc::new(Barrier::new(WRITERS.into()));
        let write = |id| tokio::spawn(threads_while_writing(place.clone(), id, all.clone()));
        let most = futures_util::future::join_all((0..WRITERS).map(write)).await;
        most.into_iter().map(Result::unwrap).max().unwrap()
    });
    assert!(most < usize::from(WRITERS), "{most} threads for {WRITERS} writers");
}
