//! What belongs to the store as a whole: places, jobs, the change feed, counters, notes and settings.

use bytes::Bytes;
use cenote_kv::KeyRange;

use super::Key;
use crate::model::{PlaceId, ResourceId};

pub(crate) fn place(id: PlaceId) -> Bytes {
    Key::new(b'L').id(id.0).done()
}

pub(crate) fn places() -> KeyRange {
    Key::new(b'L').prefix()
}

pub(crate) fn job(id: u64) -> Bytes {
    Key::new(b'J').id(id).done()
}

pub(crate) fn jobs() -> KeyRange {
    Key::new(b'J').prefix()
}

/// The prefix to which the engine appends the position of a change.
pub(crate) fn feed() -> Bytes {
    Key::new(b'F').done()
}

/// Changes after a position; a position is the part of a feed key after its letter.
pub(crate) fn feed_after(position: Option<[u8; 12]>) -> KeyRange {
    let range = Key::new(b'F').prefix();
    match position {
        Some(position) => range.after(&feed_entry(position)),
        None => range,
    }
}

/// The change at a position.
pub(crate) fn feed_entry(position: [u8; 12]) -> Bytes {
    Key::new(b'F').bytes(&position).done()
}

/// The position in a key of [`feed_after`].
pub(crate) fn feed_position(key: &[u8]) -> Option<[u8; 12]> {
    key.get(1..)?.try_into().ok()
}

/// A counter of a collection, a place, an upload or a quota, or of the store with id 0.
pub(crate) fn counter(id: u64, what: Counter) -> Bytes {
    Key::new(b'c').id(id).bytes(&[what as u8]).done()
}

pub(crate) fn counters() -> KeyRange {
    Key::new(b'c').prefix()
}

/// The quota of a collection, a user or a group.
pub(crate) fn quota(id: u64) -> Bytes {
    Key::new(b'z').id(id).done()
}

pub(crate) fn quotas() -> KeyRange {
    Key::new(b'z').prefix()
}

/// The counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counter {
    /// Children of a collection; copies in a place; all resources of the store but the root.
    Resources = b'n' as isize,
    /// Bytes of the objects in a collection; of the copies in a place; of all objects in the store.
    Bytes = b's' as isize,
    /// Replicas that are recorded in a place.
    Replicas = b'r' as isize,
    /// Parts of an upload that have arrived.
    Parts = b'p' as isize,
    /// Bytes in the trash that count for the limit of a collection.
    Removed = b'x' as isize,
}

/// A note of an opening; openings have names without a zero byte.
pub(crate) fn note(opening: &str, name: &str) -> Bytes {
    Key::new(b'O').bytes(opening.as_bytes()).bytes(&[0]).bytes(name.as_bytes()).done()
}

/// The notes of an opening whose names begin with `prefix`.
pub(crate) fn notes(opening: &str, prefix: &str) -> KeyRange {
    KeyRange::prefix(note(opening, prefix))
}

/// The name in a key of [`notes`].
pub(crate) fn note_name<'a>(opening: &str, key: &'a [u8]) -> &'a str {
    let name = key.get(opening.len() + 2..).unwrap_or_default();
    std::str::from_utf8(name).unwrap_or_default()
}

/// A note of an opening about a resource, by its name.
pub(crate) fn note_named(opening: &str, name: &str) -> Bytes {
    Key::new(b'A').bytes(opening.as_bytes()).bytes(&[0]).bytes(name.as_bytes()).done()
}

/// Those of an opening whose names begin with `prefix`; [`note_name`] has the name in a key.
pub(crate) fn notes_named(opening: &str, prefix: &str) -> KeyRange {
    KeyRange::prefix(note_named(opening, prefix))
}

pub(crate) fn all_notes_named() -> KeyRange {
    Key::new(b'A').prefix()
}

/// The same note by its resource.
pub(crate) fn note_about(resource: ResourceId, opening: &str, name: &str) -> Bytes {
    let key = Key::new(b'a').id(resource.0).bytes(opening.as_bytes());
    key.bytes(&[0]).bytes(name.as_bytes()).done()
}

/// The notes of an opening about a resource.
pub(crate) fn notes_about(resource: ResourceId, opening: &str) -> KeyRange {
    KeyRange::prefix(note_about(resource, opening, ""))
}

/// The notes of all openings about a resource.
pub(crate) fn all_notes_about(resource: ResourceId) -> KeyRange {
    Key::new(b'a').id(resource.0).prefix()
}

pub(crate) fn all_notes_by_resource() -> KeyRange {
    Key::new(b'a').prefix()
}

/// The opening and the name in a key of [`note_named`] or [`note_about`].
pub(crate) fn opening_and_name(key: &[u8]) -> (&str, &str) {
    let parts = match key.first() {
        Some(b'a') => key.get(9..),
        _ => key.get(1..),
    };
    let text = std::str::from_utf8(parts.unwrap_or_default()).unwrap_or_default();
    text.split_once('\0').unwrap_or_default()
}

pub(crate) fn setting(what: &str) -> Bytes {
    Key::new(b's').bytes(what.as_bytes()).done()
}
