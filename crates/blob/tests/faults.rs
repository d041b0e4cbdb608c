//! Every operation of a write and of a read fails in every way: afterwards the blob is complete or absent, and the
//! error says what to do.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bytes::Bytes;
use cenote_blob::faulty::{Fault, Faults};
use cenote_blob::{BlobId, Error, Place, Result, Written};
use futures_util::TryStreamExt;
use std::time::{Duration, SystemTime};
use tempfile::tempdir;

const ID: BlobId = BlobId::from_bytes([5; 16]);
const ALL: [Fault; 5] =
    [Fault::Io, Fault::NoSpace, Fault::Short, Fault::CrashBefore, Fault::CrashAfter];

fn sample(len: usize) -> Bytes {
    (0..len).map(|n| (n % 253) as u8).collect()
}

async fn put(place: &Place, bytes: &Bytes) -> Result<Written> {
    let mut writer = place.writer(ID, []);
    for run in bytes.chunks(300_000) {
        writer.write(bytes.slice_ref(run)).await?;
    }
    writer.finish().await
}

async fn whole_or_absent(place: &Place, bytes: &Bytes) {
    if let Some(size) = place.size(ID).await.unwrap() {
        assert!(place.read_all(ID, 0..size).await.unwrap() == bytes);
        place.delete(ID).await.unwrap();
    }
    assert_eq!(place.list().try_collect::<Vec<_>>().await.unwrap(), []);
}

/// Writes with `fault` at operation 1, 2, … until there is no such operation.
async fn sweep(place: Place, fault: Fault, bytes: &Bytes) {
    let faults = Faults::new();
    let place = faults.into_place(place);
    for nth in 1.. {
        faults.fail(nth, fault);
        let outcome = put(&place, bytes).await;
        let pending = faults.pending();
        faults.restart();
        match outcome {
            Ok(written) => assert_eq!(place.size(ID).await.unwrap(), Some(written.size)),
            Err(error) => assert!(is_of(fault, &error), "{fault:?} at {nth}: {error:?}"),
        }
        whole_or_absent(&place, bytes).await;
        if pending {
            return;
        }
    }
}

fn is_of(fault: Fault, error: &Error) -> bool {
    match fault {
        Fault::NoSpace => matches!(error, Error::NoSpace { .. }),
        Fault::Short => matches!(error, Error::Damaged { .. }),
        _ => matches!(error, Error::Io { .. }),
    }
}

#[tokio::test]
async fn a_failed_write_leaves_a_whole_blob_or_none_in_memory() {
    for fault in ALL {
        for size in [0, 1000, 2_500_000] {
            sweep(Place::memory("main"), fault, &sample(size)).await;
        }
    }
}

#[tokio::test]
async fn a_failed_write_leaves_a_whole_blob_or_none_on_disk() {
    for fault in ALL {
        let dir = tempdir().unwrap();
        sweep(Place::local("main", dir.path()).unwrap(), fault, &sample(2_500_000)).await;
    }
}

#[tokio::test]
async fn files_staged_before_a_crash_are_swept() {
    let (dir, faults) = (tempdir().unwrap(), Faults::new());
    let place = faults.into_place(Place::local("main", dir.path()).unwrap());
    // The start, three parts, and the crash just before the rename.
    faults.fail(5, Fault::CrashBefore);
    put(&place, &sample(2_500_000)).await.unwrap_err();
    faults.restart();
    let later = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 40);
    assert_eq!(place.sweep_staged(later).await.unwrap(), 1);
    whole_or_absent(&place, &Bytes::new()).await;
}

#[tokio::test]
async fn a_writer_that_failed_never_finishes() {
    let faults = Faults::new();
    let place = faults.into_place(Place::memory("main"));
    let mut writer = place.writer(ID, []);
    faults.fail(1, Fault::NoSpace);
    writer.write(sample(2_000_000)).await.unwrap_err();
    writer.write(sample(2_000_000)).await.unwrap_err();
    writer.finish().await.unwrap_err();
    assert_eq!(place.size(ID).await.unwrap(), None);
}

/// The call is dropped while it waits for a part: the bytes of the next are lost.
#[tokio::test]
async fn a_writer_whose_call_was_dropped_never_finishes() {
    let place = Place::memory("main");
    let mut writer = place.writer(ID, []);
    let polled_once = futures_util::poll!(Box::pin(writer.write(sample(9_000_000))));
    assert!(polled_once.is_pending());
    writer.finish().await.unwrap_err();
    assert_eq!(place.size(ID).await.unwrap(), None);
}

#[tokio::test]
async fn writes_succeed_again_once_a_full_disk_has_space() {
    let faults = Faults::new();
    let place = faults.into_place(Place::memory("main"));
    faults.fail(1, Fault::NoSpace);
    assert!(matches!(put(&place, &sample(10)).await, Err(Error::NoSpace { .. })));
    assert_eq!(put(&place, &sample(10)).await.unwrap().size, 10);
}

#[tokio::test]
async fn a_short_read_is_damage() {
    let faults = Faults::new();
    let dir = tempdir().unwrap();
    for place in [Place::memory("main"), Place::local("main", dir.path()).unwrap()] {
        let place = faults.into_place(place);
        put(&place, &sample(1_500_000)).await.unwrap();
        faults.fail(1, Fault::Short);
        let error = place.read_all(ID, 0..1_500_000).await.unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn failed_reads_report_what_failed() {
    let faults = Faults::new();
    let place = faults.into_place(Place::memory("main"));
    put(&place, &sample(10)).await.unwrap();
    faults.fail(1, Fault::CrashBefore);
    assert!(matches!(place.read_all(ID, 0..10).await, Err(Error::Io { .. })));
    assert!(matches!(place.size(ID).await, Err(Error::Io { .. })));
    assert!(matches!(place.delete(ID).await, Err(Error::Io { .. })));
    assert!(matches!(place.list().try_collect::<Vec<_>>().await, Err(Error::Io { .. })));
    faults.restart();
    assert_eq!(place.read_all(ID, 0..10).await.unwrap(), sample(10));
}
