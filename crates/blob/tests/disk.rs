//! What a place on a local disk guarantees beyond the common suite: where files are, what a dropped writer leaves
//! behind, which corruption is detected, which errors are reported.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use cenote_blob::{BlobId, Damage, Error, Place, Written};
use futures_util::TryStreamExt;
use tempfile::{TempDir, tempdir};

const ID: BlobId = BlobId::from_bytes([0xab; 16]);
const MIB: usize = 1 << 20;

fn place() -> (TempDir, Place) {
    let dir = tempdir().unwrap();
    let place = Place::local("main", dir.path()).unwrap();
    (dir, place)
}

async fn put(place: &Place, bytes: Bytes) -> Written {
    let mut writer = place.writer(ID, []);
    writer.write(bytes).await.unwrap();
    writer.finish().await.unwrap()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn later() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 40)
}

#[tokio::test]
async fn a_blob_is_a_file_at_its_path() {
    let (dir, place) = place();
    put(&place, Bytes::from_static(b"water")).await;
    let path = dir.path().join("blobs/ab").join("ab".repeat(15));
    assert_eq!(fs::read(&path).unwrap(), b"water");
    assert_eq!(place.local_path(ID), Some(path.canonicalize().unwrap()));
    assert_eq!(files(dir.path()), [path]);
}

#[tokio::test]
async fn a_place_elsewhere_has_no_local_path() {
    assert_eq!(Place::memory("main").local_path(ID), None);
    assert_eq!(Place::memory("main").free_space(), None);
}

#[tokio::test]
async fn free_space_is_reported() {
    assert!(place().1.free_space().unwrap() > 0);
}

#[tokio::test]
async fn a_reopened_place_has_its_blobs() {
    let (dir, place) = place();
    put(&place, Bytes::from_static(b"water")).await;
    let again = Place::local("main", dir.path()).unwrap();
    assert_eq!(again.read_all(ID, 0..5).await.unwrap(), "water");
}

#[tokio::test]
async fn an_aborted_writer_leaves_no_file() {
    let (dir, place) = place();
    let mut writer = place.writer(ID, []);
    writer.write(Bytes::from(vec![1; 3 * MIB])).await.unwrap();
    writer.abort().await;
    assert!(files(dir.path()).is_empty());
}

#[tokio::test]
async fn staged_files_are_swept_once_they_are_old() {
    let (dir, place) = place();
    let written = put(&place, Bytes::from_static(b"water")).await;
    let left = dir.path().join("blobs/07/cenote#1");
    fs::write(&left, b"half").unwrap();
    assert_eq!(place.sweep_staged(SystemTime::UNIX_EPOCH).await.unwrap(), 0);
    assert!(left.exists());
    assert_eq!(place.sweep_staged(later()).await.unwrap(), 1);
    assert_eq!(files(dir.path()).len(), 1);
    assert_eq!(place.size(ID).await.unwrap(), Some(written.size));
}

#[tokio::test]
async fn foreign_files_are_not_listed() {
    let (dir, place) = place();
    let names = ["blobs/07/cenote#1", "blobs/07/x", "blobs/y", "z", "blobs/07/nested"];
    for name in &names[..4] {
        fs::write(dir.path().join(name), b"").unwrap();
    }
    fs::create_dir(dir.path().join(names[4])).unwrap();
    fs::write(dir.path().join(names[4]).join("0".repeat(30)), b"").unwrap();
    fs::write(dir.path().join("blobs/AB"), b"").unwrap();
    assert_eq!(place.list().try_collect::<Vec<_>>().await.unwrap(), []);
}

#[tokio::test]
async fn a_truncated_file_is_damage() {
    let (_dir, place) = place();
    let size = put(&place, Bytes::from(vec![1; 3 * MIB])).await.size;
    let file = fs::File::options().write(true).open(place.local_path(ID).unwrap()).unwrap();
    file.set_len(size - 1).unwrap();
    let error = place.read(ID, 0..size).try_collect::<Vec<_>>().await.unwrap_err();
    let Error::Damaged { damage, .. } = error else { panic!("{error:?}") };
    assert_eq!(damage, Damage::Short { expected: size, actual: size - 1 });
}

/// The file is truncated after the stream has read its length.
#[tokio::test]
async fn a_file_truncated_while_it_is_read_is_damage() {
    let (_dir, place) = place();
    let size = put(&place, Bytes::from(vec![1; 8 * MIB])).await.size;
    let mut chunks = place.read(ID, 0..size);
    chunks.try_next().await.unwrap();
    let file = fs::File::options().write(true).open(place.local_path(ID).unwrap()).unwrap();
    file.set_len(5 * MIB as u64).unwrap();
    let error = chunks.try_collect::<Vec<_>>().await.unwrap_err();
    let Error::Damaged { damage, .. } = error else { panic!("{error:?}") };
    assert_eq!(damage, Damage::Short { expected: size, actual: 5 * MIB as u64 });
}

#[tokio::test]
async fn a_changed_byte_is_damage_to_a_verified_read_only() {
    let (_dir, place) = place();
    let written = put(&place, Bytes::from(vec![1; 3 * MIB])).await;
    let mut bytes = fs::read(place.local_path(ID).unwrap()).unwrap();
    bytes[2 * MIB] ^= 1;
    fs::write(place.local_path(ID).unwrap(), bytes).unwrap();
    place.read_all(ID, 0..written.size).await.unwrap();
    let verified = place.read_verified(ID, written.size, written.digests.sha256.unwrap());
    let error = verified.try_collect::<Vec<_>>().await.unwrap_err();
    assert!(matches!(error, Error::Damaged { damage: Damage::Digest { .. }, .. }), "{error:?}");
}

#[test]
fn a_place_that_cannot_be_opened_reports_the_reason() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, b"").unwrap();
    let opened = [
        Place::local("main", &file),
        Place::local("main", file.join("below")),
        Place::from_url("main", "not a url", []),
        Place::from_url("main", "gopher://host/", []),
        Place::from_url("main", "file://host/dir", []),
    ];
    for place in opened {
        let error = place.unwrap_err();
        assert!(matches!(error, Error::Settings { .. }), "{error:?}");
        assert!(error.to_string().starts_with("main: "), "{error}");
    }
}
