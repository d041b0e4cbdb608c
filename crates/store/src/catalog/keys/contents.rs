//! Contents, the blobs that store them, and uploads.

use std::ops::Range;

use bytes::Bytes;
use cenote_blob::BlobId;
use cenote_kv::KeyRange;

use super::{Key, id_at};
use crate::model::{ContentId, PlaceId, ResourceId, Time};

pub(crate) fn content(id: ContentId) -> Bytes {
    Key::new(b'K').id(id.0).done()
}

pub(crate) fn contents() -> KeyRange {
    Key::new(b'K').prefix()
}

pub(crate) fn patch(content: ContentId, sequence: u32) -> Bytes {
    Key::new(b'k').id(content.0).bytes(&sequence.to_be_bytes()).done()
}

pub(crate) fn patches(content: ContentId) -> KeyRange {
    Key::new(b'k').id(content.0).prefix()
}

pub(crate) fn all_patches() -> KeyRange {
    Key::new(b'k').prefix()
}

pub(crate) fn content_user(content: ContentId, id: ResourceId, version: u64) -> Bytes {
    Key::new(b'R').id(content.0).id(id.0).id(version).done()
}

pub(crate) fn content_users(content: ContentId) -> KeyRange {
    Key::new(b'R').id(content.0).prefix()
}

pub(crate) fn all_content_users() -> KeyRange {
    Key::new(b'R').prefix()
}

pub(crate) fn blob(id: BlobId) -> Bytes {
    Key::new(b'B').bytes(&id.to_bytes()).done()
}

pub(crate) fn blobs() -> KeyRange {
    Key::new(b'B').prefix()
}

/// The blob in a key of [`blobs`].
pub(crate) fn blob_id(key: &[u8]) -> Option<BlobId> {
    Some(BlobId::from_bytes(key.get(1..)?.try_into().ok()?))
}

pub(crate) fn blob_user(blob: BlobId, content: ContentId) -> Bytes {
    Key::new(b'b').bytes(&blob.to_bytes()).id(content.0).done()
}

pub(crate) fn blob_users(blob: BlobId) -> KeyRange {
    Key::new(b'b').bytes(&blob.to_bytes()).prefix()
}

pub(crate) fn all_blob_users() -> KeyRange {
    Key::new(b'b').prefix()
}

/// The blob and the content in a key of [`blob_users`].
pub(crate) fn blob_user_parts(key: &[u8]) -> Option<(BlobId, ContentId)> {
    let blob = key.get(1..17)?.try_into().ok()?;
    Some((BlobId::from_bytes(blob), ContentId(id_at(key, 17)?)))
}

/// The checksums of a group of blocks of a blob.
pub(crate) fn sums(blob: BlobId, group: u32) -> Bytes {
    Key::new(b'e').bytes(&blob.to_bytes()).bytes(&group.to_be_bytes()).done()
}

/// Those of some groups.
pub(crate) fn some_sums(blob: BlobId, groups: Range<u32>) -> KeyRange {
    KeyRange::new(sums(blob, groups.start), sums(blob, groups.end))
}

pub(crate) fn all_sums() -> KeyRange {
    Key::new(b'e').prefix()
}

/// The blob and the group in a key of [`all_sums`].
pub(crate) fn sums_parts(key: &[u8]) -> Option<(BlobId, u32)> {
    let blob = key.get(1..17)?.try_into().ok()?;
    Some((BlobId::from_bytes(blob), u32::from_be_bytes(key.get(17..)?.try_into().ok()?)))
}

/// A record of damage to a copy.
pub(crate) fn damage(blob: BlobId, place: PlaceId) -> Bytes {
    Key::new(b'D').bytes(&blob.to_bytes()).id(place.0).done()
}

pub(crate) fn all_damage() -> KeyRange {
    Key::new(b'D').prefix()
}

/// The blob and the place in a key of [`all_damage`].
pub(crate) fn damage_parts(key: &[u8]) -> Option<(BlobId, PlaceId)> {
    let blob = key.get(1..17)?.try_into().ok()?;
    Some((BlobId::from_bytes(blob), PlaceId(id_at(key, 17)?)))
}

pub(crate) fn undigested(id: ResourceId) -> Bytes {
    Key::new(b'd').id(id.0).done()
}

pub(crate) fn all_undigested() -> KeyRange {
    Key::new(b'd').prefix()
}

pub(crate) fn garbage(since: Time, content: ContentId) -> Bytes {
    Key::new(b'g').id(since.nanos() as u64).id(content.0).done()
}

pub(crate) fn garbage_before(time: Time) -> KeyRange {
    let mut range = Key::new(b'g').prefix();
    range.end = Some(Key::new(b'g').id(time.nanos().max(0) as u64).done());
    range
}

/// The content in a key of [`garbage_before`].
pub(crate) fn garbage_content(key: &[u8]) -> Option<ContentId> {
    id_at(key, 9).map(ContentId)
}

pub(crate) fn all_garbage() -> KeyRange {
    Key::new(b'g').prefix()
}

pub(crate) fn upload(id: u64) -> Bytes {
    Key::new(b'P').id(id).done()
}

pub(crate) fn uploads() -> KeyRange {
    Key::new(b'P').prefix()
}

pub(crate) fn part(upload: u64, offset: u64) -> Bytes {
    Key::new(b'p').id(upload).id(offset).done()
}

pub(crate) fn parts(upload: u64) -> KeyRange {
    Key::new(b'p').id(upload).prefix()
}

pub(crate) fn all_parts() -> KeyRange {
    Key::new(b'p').prefix()
}
