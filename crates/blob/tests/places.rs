//! The promises of every place, on memory and on a local disk.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
use bytes::Bytes;
use cenote_blob::{Algorithm, BlobId, Damage, Error, Place};
use futures_util::TryStreamExt;

fn id(n: u8) -> BlobId {
    BlobId::from_bytes([n; 16])
}

async fn round_trip(place: Place) {
    for size in [0usize, 1, 100, 8191, 8192, 1 << 20, (1 << 20) + 1, 5_000_000] {
        let data: Vec<u8> = (0..size).map(|n| (n * 31 % 251) as u8).collect();
        let mut writer = place.writer(id(7), [Algorithm::Md5]);
        for run in data.chunks(10_007) {
            writer.write(Bytes::copy_from_slice(run)).await.unwrap();
        }
        assert!(size > 0 || place.size(id(7)).await.unwrap().is_none());
        let written = writer.finish().await.unwrap();
        assert_eq!(written.size, size as u64);
        assert_eq!(place.size(id(7)).await.unwrap(), Some(size as u64));
        let end = size as u64;
        assert_eq!(place.read_all(id(7), 0..end).await.unwrap(), data);
        assert_eq!(
            place.read_all(id(7), end / 3..end / 2).await.unwrap(),
            data[size / 3..size / 2]
        );
        let verified: Vec<Bytes> =
            place.read_verified(id(7), end, written.digests.sha256).try_collect().await.unwrap();
        assert_eq!(verified.concat(), data);
        let wrong = place.read_verified(id(7), end, [0; 32]).try_collect::<Vec<_>>().await;
        assert!(matches!(wrong, Err(Error::Damaged { damage: Damage::Digest { .. }, .. })));
        for range in [0..end + 1, end + 5..end + 6, end + 5..end + 5] {
            let error = place.read_all(id(7), range.clone()).await.unwrap_err();
            assert!(
                matches!(error, Error::Damaged { damage: Damage::Short { .. }, .. }),
                "{range:?} {error:?}"
            );
        }
        let listed: Vec<_> = place.list().try_collect().await.unwrap();
        assert_eq!((listed.len(), listed[0].id, listed[0].size), (1, id(7), end));
        place.delete(id(7)).await.unwrap();
        place.delete(id(7)).await.unwrap();
        let gone = place.read_all(id(7), 0..end).await.unwrap_err();
        assert!(matches!(gone, Error::NotFound { .. }), "{gone:?}");
    }
}

#[tokio::test]
async fn memory_round_trip() {
    round_trip(Place::memory("main")).await;
}

#[tokio::test]
async fn local_round_trip() {
    let dir = tempfile::tempdir().unwrap();
    round_trip(Place::local("main", dir.path().join("a/b")).unwrap()).await;
}
