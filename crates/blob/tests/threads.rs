//! Every call can move between the threads of a server.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bytes::Bytes;
use cenote_blob::{BlobId, Place};
use futures_util::TryStreamExt;

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
