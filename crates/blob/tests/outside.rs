//! Files read in place: as blobs, if they match.

use cenote_blob::{BlobId, Damage, Error, Hasher, Outside};
use futures_util::TryStreamExt;

const ID: BlobId = BlobId::from_bytes([7; 16]);

fn digest(bytes: &[u8]) -> [u8; 32] {
    let mut hasher = Hasher::default();
    hasher.update(bytes);
    hasher.finish().sha256.expect("it is computed")
}

async fn all(stream: cenote_blob::ReadStream) -> Result<Vec<u8>, Error> {
    let chunks: Vec<_> = stream.try_collect().await?;
    Ok(chunks.concat())
}

#[tokio::test]
async fn a_file_is_read_in_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a name with % and ü.dat");
    std::fs::write(&path, b"hello, file").unwrap();
    let file = Outside::new("vault", &path).unwrap();
    assert_eq!(file.size().await.unwrap(), Some(11));
    assert_eq!(all(file.read(ID, 7..11)).await.unwrap(), b"file");
    let whole = file.read_verified(ID, 11, digest(b"hello, file"));
    assert_eq!(all(whole).await.unwrap(), b"hello, file");
}

#[tokio::test]
async fn a_changed_or_missing_file_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let file = Outside::new("vault", &path).unwrap();
    assert_eq!(file.size().await.unwrap(), None);
    assert!(matches!(all(file.read(ID, 0..3)).await, Err(Error::NotFound { .. })));
    std::fs::write(&path, b"ab").unwrap();
    let short = all(file.read(ID, 0..3)).await;
    assert!(matches!(short, Err(Error::Damaged { damage: Damage::Short { .. }, .. })));
    let other = all(file.read_verified(ID, 2, digest(b"xy"))).await;
    assert!(matches!(other, Err(Error::Damaged { damage: Damage::Digest { .. }, .. })));
}

#[test]
fn a_path_that_is_not_absolute_is_refused() {
    assert!(matches!(Outside::new("vault", "f"), Err(Error::Settings { .. })));
}
