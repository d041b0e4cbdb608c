//! The servers that have a catalog open, and what they hold.

use bytes::Bytes;
use cenote_kv::KeyRange;

use super::Key;
use crate::BlobId;
use crate::catalog::ServerId;
use crate::model::PlaceId;

pub(crate) fn server(id: ServerId) -> Bytes {
    Key::new(b'W').bytes(b"s").bytes(&id).done()
}

pub(crate) fn servers() -> KeyRange {
    Key::new(b'W').bytes(b"s").prefix()
}

/// The id in a key of [`servers`].
pub(crate) fn server_id(key: &[u8]) -> ServerId {
    key.get(2..).and_then(|id| id.try_into().ok()).unwrap_or_default()
}

/// Who does the background work.
pub(crate) fn upkeep() -> Bytes {
    Key::new(b'W').bytes(b"u").done()
}

/// Who makes or deletes the copy of a blob.
pub(crate) fn copy_claim(blob: BlobId, place: PlaceId) -> Bytes {
    Key::new(b'W').bytes(b"c").bytes(&blob.to_bytes()).id(place.0).done()
}

pub(crate) fn copy_claims() -> KeyRange {
    Key::new(b'W').bytes(b"c").prefix()
}

/// A job that is over.
pub(crate) fn finished_job(id: u64) -> Bytes {
    Key::new(b'W').bytes(b"f").id(id).done()
}

pub(crate) fn finished_jobs() -> KeyRange {
    Key::new(b'W').bytes(b"f").prefix()
}

/// A key that all servers have.
pub(crate) fn shared_key(name: &str) -> Bytes {
    Key::new(b'W').bytes(b"k").bytes(name.as_bytes()).done()
}
