//! What every place must do, as a test suite: [`all`], or its functions one by one. Each panics if the place breaks a
//! promise.
//!
//! The place should be empty, and is empty again afterwards. In a bucket the
//! suite moves about 200 MB.

use std::ops::Range;

use bytes::Bytes;
use futures_util::{TryStreamExt, future};
use tokio::task::spawn;

use crate::{Algorithm, BlobId, Damage, Digests, Error, Hasher, Place, Stored, Written};

/// Runs the whole suite.
pub async fn all(place: &Place) {
    sizes_round_trip(place).await;
    many_small_runs_round_trip(place).await;
    digests_are_those_of_the_bytes(place).await;
    nothing_shows_before_finish(place).await;
    an_aborted_blob_never_shows(place).await;
    a_refused_blob_never_shows(place).await;
    ranges_are_exact(place).await;
    ranges_past_the_end_are_damage(place).await;
    a_missing_blob_is_not_found(place).await;
    verified_reads_hold_the_end_back(place).await;
    writing_again_replaces_the_whole(place).await;
    writers_do_not_disturb_each_other(place).await;
    listing_shows_what_is_finished(place).await;
}

/// `len` bytes with a period of 251, so that parts and chunks differ.
fn sample(len: usize) -> Bytes {
    (0..len).map(|n| (n % 251) as u8 ^ (n >> 16) as u8).collect()
}

fn id(n: u8) -> BlobId {
    BlobId::from_bytes([n; 16])
}

async fn kept(place: &Place, id: BlobId, bytes: &Bytes) -> Written {
    let mut writer = place.writer(id, []);
    writer.write(bytes.clone()).await.expect("bytes are written");
    writer.finish().await.expect("a blob is written")
}

async fn whole(place: &Place, written: &Written) -> Bytes {
    place.read_all(written.id, 0..written.size).await.expect("a finished blob is read")
}

async fn listed(place: &Place) -> Vec<Stored> {
    let mut found: Vec<_> = place.list().try_collect().await.expect("a place is listed");
    found.sort_by_key(|stored| stored.id);
    found
}

async fn remove(place: &Place, ids: impl IntoIterator<Item = BlobId>) {
    for id in ids {
        place.delete(id).await.expect("a blob is deleted");
    }
}

fn digests(bytes: &[u8], algorithms: impl IntoIterator<Item = Algorithm>) -> Digests {
    let mut hasher = Hasher::new(algorithms);
    hasher.update(bytes);
    hasher.finish()
}

/// Blobs of no bytes, one byte, and about one, two and three parts round-trip.
pub async fn sizes_round_trip(place: &Place) {
    let part = place.part_size();
    for size in [0, 1, part - 1, part, part + 1, 2 * part, 3 * part + 7] {
        let bytes = sample(size);
        let written = kept(place, id(1), &bytes).await;
        assert_eq!((written.id, written.size), (id(1), size as u64));
        assert_eq!(written.digests, digests(&bytes, []), "{size} bytes");
        assert_eq!(place.size(id(1)).await.expect("the size is known"), Some(size as u64));
        assert!(whole(place, &written).await == bytes, "{size} bytes");
    }
    remove(place, [id(1)]).await;
}

/// A blob written in runs of a few bytes is the same as one written at once.
pub async fn many_small_runs_round_trip(place: &Place) {
    let bytes = sample(place.part_size() + 100_000);
    let mut writer = place.writer(id(2), []);
    let mut rest = bytes.clone();
    for len in [1, 10, 9000, 0, 100, 70_000].into_iter().cycle() {
        let run = rest.split_to(len.min(rest.len()));
        writer.write(run).await.expect("a run is written");
        if rest.is_empty() {
            break;
        }
    }
    let written = writer.finish().await.expect("a blob is written");
    assert_eq!(written.digests, digests(&bytes, []));
    assert!(whole(place, &written).await == bytes);
    remove(place, [id(2)]).await;
}

/// A writer computes exactly the requested digests.
pub async fn digests_are_those_of_the_bytes(place: &Place) {
    let (bytes, algorithms) = (sample(3_000_000), [Algorithm::Md5, Algorithm::Crc32c]);
    let mut writer = place.writer(id(3), algorithms);
    writer.write(bytes.clone()).await.expect("bytes are written");
    let written = writer.finish().await.expect("a blob is written");
    assert_eq!(written.digests, digests(&bytes, algorithms));
    remove(place, [id(3)]).await;
}

/// Bytes passed to a writer are not visible before it is finished.
pub async fn nothing_shows_before_finish(place: &Place) {
    let bytes = sample(3 * place.part_size());
    let mut writer = place.writer(id(4), []);
    writer.write(bytes.clone()).await.expect("bytes are written");
    assert_eq!(place.size(id(4)).await.expect("the size is known"), None);
    assert!(!listed(place).await.iter().any(|stored| stored.id == id(4)));
    let written = writer.finish().await.expect("a blob is written");
    assert!(whole(place, &written).await == bytes);
    remove(place, [id(4)]).await;
}

/// A blob that was aborted, in either way, never exists.
pub async fn an_aborted_blob_never_shows(place: &Place) {
    for abort in [true, false] {
        let mut writer = place.writer(id(5), []);
        writer.write(sample(2 * place.part_size() + 1)).await.expect("bytes are written");
        match abort {
            true => writer.abort().await,
            false => drop(writer),
        }
        assert_eq!(place.size(id(5)).await.expect("the size is known"), None);
        assert!(!listed(place).await.iter().any(|stored| stored.id == id(5)));
    }
}

/// The bytes of a range, each chunk dropped before the next is requested, as a socket does.
/// A blob appears only if nothing is wrong with its digests.
pub async fn a_refused_blob_never_shows(place: &Place) {
    for len in [0, 1, place.part_size(), 2 * place.part_size() + 1] {
        let bytes = sample(len);
        let expected = digests(&bytes, []);
        for crc64nvme in [expected.crc64nvme, !expected.crc64nvme] {
            let mut writer = place.writer(id(15), []);
            writer.write(bytes.clone()).await.expect("bytes are written");
            let finished = writer.finish_unless(|_, found| {
                let wrong = found.crc64nvme != crc64nvme;
                wrong.then_some(Damage::Crc { expected: crc64nvme, actual: found.crc64nvme })
            });
            match finished.await {
                Ok(written) => assert!(whole(place, &written).await == bytes),
                Err(Error::Damaged { damage: Damage::Crc { .. }, .. }) => {
                    assert_eq!(place.size(id(15)).await.expect("the size is known"), None);
                }
                Err(other) => panic!("{len} bytes: {other}"),
            }
            remove(place, [id(15)]).await;
        }
    }
}

async fn streamed(place: &Place, id: BlobId, range: Range<u64>) -> Vec<u8> {
    let (mut chunks, mut bytes) = (place.read(id, range), Vec::new());
    while let Some(chunk) = chunks.try_next().await.expect("a range is read") {
        bytes.extend_from_slice(&chunk);
    }
    bytes
}

/// A range yields its bytes and no others, in chunks of at most 1 MiB, whether they are kept or dropped one by one.
pub async fn ranges_are_exact(place: &Place) {
    let bytes = sample(2_500_000);
    let end = kept(place, id(6), &bytes).await.size;
    let edges = [0, 1, 4095, 1 << 19, (1 << 20) + 1, 2_000_000, end - 1, end];
    for start in edges {
        for stop in edges.into_iter().filter(|stop| *stop >= start) {
            let read = place.read(id(6), start..stop).try_collect::<Vec<_>>().await;
            let chunks = read.expect("a range is read");
            assert!(chunks.iter().all(|chunk| (1..=1 << 20).contains(&chunk.len())));
            let expected = &bytes[start as usize..stop as usize];
            assert!(chunks.concat() == expected, "{start}..{stop}");
            assert!(streamed(place, id(6), start..stop).await == expected, "{start}..{stop}");
        }
    }
    remove(place, [id(6)]).await;
}

/// A blob shorter than the requested range is reported, never read as if it were complete.
pub async fn ranges_past_the_end_are_damage(place: &Place) {
    let end = kept(place, id(7), &sample(1000)).await.size;
    for range in [0..end + 1, end - 1..end + 1, end..end + 1, end + 5..end + 9, end + 5..end + 5] {
        let error = place.read_all(id(7), range.clone()).await.expect_err("the range is too long");
        let Error::Damaged { damage, .. } = error else { panic!("{range:?}: {error:?}") };
        assert_eq!(damage, Damage::Short { expected: range.end, actual: end });
    }
    remove(place, [id(7)]).await;
}

/// A missing blob is reported as such by every kind of read, and deleting it succeeds.
pub async fn a_missing_blob_is_not_found(place: &Place) {
    for range in [0..0, 0..1, 5..1_000_000] {
        let error = place.read_all(id(8), range).await.expect_err("there is no blob");
        assert!(matches!(error, Error::NotFound { id: missing, .. } if missing == id(8)));
    }
    let verified = place.read_verified(id(8), 1, [0; 32]).try_collect::<Vec<_>>().await;
    assert!(matches!(verified, Err(Error::NotFound { .. })));
    assert_eq!(place.size(id(8)).await.expect("the size is known"), None);
    remove(place, [id(8), id(8)]).await;
}

/// A verified read yields all of a blob whose digest is right, and of any other an error instead of its last chunk.
pub async fn verified_reads_hold_the_end_back(place: &Place) {
    for size in [0, 1, 600_000, 3 << 20] {
        let bytes = sample(size);
        let written = kept(place, id(9), &bytes).await;
        let right =
            place.read_verified(id(9), written.size, written.digests.sha256.unwrap_or_default());
        let read = right.try_collect::<Vec<_>>().await.expect("the digest is right");
        assert!(read.concat() == bytes, "{size} bytes");

        let wrong = place.read_verified(id(9), written.size, [0; 32]);
        let mut seen = 0;
        let released = wrong.inspect_ok(|chunk| seen += chunk.len());
        let end = released.try_collect::<Vec<_>>().await;
        let Err(Error::Damaged { damage: Damage::Digest { actual, .. }, .. }) = end else {
            panic!("{size} bytes: {end:?}")
        };
        assert_eq!(Some(actual), written.digests.sha256);
        assert!(seen < size.max(1), "{seen} of {size} bytes were released");
    }
    remove(place, [id(9)]).await;
}

/// An id written twice holds the later bytes and none of the earlier ones.
pub async fn writing_again_replaces_the_whole(place: &Place) {
    kept(place, id(10), &sample(2_000_000)).await;
    let bytes = sample(500);
    let written = kept(place, id(10), &bytes).await;
    assert_eq!(place.size(id(10)).await.expect("the size is known"), Some(500));
    assert!(whole(place, &written).await == bytes);
    remove(place, [id(10)]).await;
}

/// Blobs written at the same time each hold their own bytes.
pub async fn writers_do_not_disturb_each_other(place: &Place) {
    let samples: Vec<_> = (0..8).map(|n| sample(n * 700_000 + 3)).collect();
    let puts = samples.iter().zip(20..).map(|(bytes, n)| {
        let (place, bytes) = (place.clone(), bytes.clone());
        spawn(async move { kept(&place, id(n), &bytes).await })
    });
    let written = future::try_join_all(puts).await.expect("no writer panics");
    for (written, bytes) in written.iter().zip(&samples) {
        assert!(whole(place, written).await == bytes);
    }
    remove(place, written.iter().map(|written| written.id)).await;
}

/// A listing shows each finished blob once, with its length, and nothing else.
pub async fn listing_shows_what_is_finished(place: &Place) {
    let ids: Vec<_> = (40..60).map(id).collect();
    for (size, id) in ids.iter().enumerate() {
        kept(place, *id, &sample(size)).await;
    }
    let found: Vec<_> = listed(place).await.iter().map(|s| (s.id, s.size)).collect();
    assert_eq!(found, ids.iter().copied().zip(0..).collect::<Vec<_>>());
    remove(place, ids).await;
    assert!(listed(place).await.is_empty());
}
