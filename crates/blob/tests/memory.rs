//! The memory that a writer holds of its input is bounded.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use cenote_blob::{BlobId, Place};
use tempfile::tempdir;

/// Bytes that count as long as anything holds them.
struct Counted {
    bytes: Vec<u8>,
    held: Arc<AtomicUsize>,
}

impl Counted {
    fn bytes(len: usize, held: &Arc<AtomicUsize>) -> Bytes {
        held.fetch_add(len, Ordering::SeqCst);
        Bytes::from_owner(Self { bytes: vec![1; len], held: held.clone() })
    }
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.held.fetch_sub(self.bytes.len(), Ordering::SeqCst);
    }
}

async fn most_held(run: usize, total: usize) -> usize {
    let dir = tempdir().unwrap();
    let place = Place::local("main", dir.path()).unwrap();
    let held = Arc::new(AtomicUsize::new(0));
    let mut writer = place.writer(BlobId::from_bytes([1; 16]), []);
    let mut most = 0;
    for _ in 0..total / run {
        writer.write(Counted::bytes(run, &held)).await.unwrap();
        most = most.max(held.load(Ordering::SeqCst));
    }
    writer.finish().await.unwrap();
    assert_eq!(held.load(Ordering::SeqCst), 0);
    most
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_holds_at_most_4_mib() {
    for run in [100_000, 64 << 10, 1 << 20] {
        let most = most_held(run, 32 << 20).await;
        assert!(most <= 4 << 20, "{most} bytes held of runs of {run}");
    }
}

/// A short run is copied, so that it does not keep alive the memory it is a slice of.
#[tokio::test]
async fn a_writer_holds_no_short_runs() {
    assert_eq!(most_held(1000, 2 << 20).await, 0);
}
