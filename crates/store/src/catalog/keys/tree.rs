//! Resources: their children, versions and descriptions.

use std::ops::RangeInclusive;
use std::time::Duration;

use bytes::Bytes;
use cenote_kv::KeyRange;

use super::Key;
use crate::model::{PersonId, ResourceId, StorePath, Time};

pub(crate) fn resource(id: ResourceId) -> Bytes {
    Key::new(b'N').id(id.0).done()
}

/// The keys from one to another of the same table, both among them.
pub(crate) fn through(first: Bytes, last: &Bytes) -> KeyRange {
    KeyRange::new(first, [last.as_ref(), &[0]].concat())
}

pub(crate) fn resources() -> KeyRange {
    Key::new(b'N').prefix()
}

pub(crate) fn child(parent: ResourceId, name: &str) -> Bytes {
    Key::new(b'C').id(parent.0).bytes(name.as_bytes()).done()
}

pub(crate) fn children(parent: ResourceId) -> KeyRange {
    Key::new(b'C').id(parent.0).prefix()
}

pub(crate) fn all_children() -> KeyRange {
    Key::new(b'C').prefix()
}

/// The name in a key of [`children`].
pub(crate) fn child_name(key: &[u8]) -> &str {
    key.get(9..).and_then(|name| std::str::from_utf8(name).ok()).unwrap_or_default()
}

/// Counts the changes of a collection's membership; a counter of the engine.
pub(crate) fn member_changes(collection: ResourceId) -> Bytes {
    Key::new(b'h').id(collection.0).done()
}

/// When the membership of a collection last changed.
pub(crate) fn members_changed(collection: ResourceId) -> Bytes {
    Key::new(b'H').id(collection.0).done()
}

/// Both tables of [`member_changes`] and [`members_changed`].
pub(crate) fn membership_clocks() -> [KeyRange; 2] {
    [Key::new(b'h').prefix(), Key::new(b'H').prefix()]
}

pub(crate) fn version(id: ResourceId, version: u64) -> Bytes {
    Key::new(b'V').id(id.0).id(version).done()
}

pub(crate) fn versions(id: ResourceId) -> KeyRange {
    Key::new(b'V').id(id.0).prefix()
}

pub(crate) fn all_versions() -> KeyRange {
    Key::new(b'V').prefix()
}

/// Those of all resources with greater ids.
pub(crate) fn versions_beyond(id: ResourceId) -> KeyRange {
    KeyRange { start: versions(id).end.unwrap_or_default(), ..all_versions() }
}

/// The resource in a key of [`all_versions`].
pub(crate) fn versioned(key: &[u8]) -> ResourceId {
    ResourceId(super::id_at(key, 1).unwrap_or_default())
}

/// A part of the description of a version.
pub(crate) fn difference(id: ResourceId, version: u64, part: u32) -> Bytes {
    Key::new(b'v').id(id.0).id(version).bytes(&part.to_be_bytes()).done()
}

pub(crate) fn differences(id: ResourceId, version: u64) -> KeyRange {
    Key::new(b'v').id(id.0).id(version).prefix()
}

/// Those of all versions of a resource from this number on.
pub(crate) fn differences_from(id: ResourceId, version: u64) -> KeyRange {
    let start = Key::new(b'v').id(id.0).id(version).done();
    KeyRange { start, ..Key::new(b'v').id(id.0).prefix() }
}

pub(crate) fn all_differences() -> KeyRange {
    Key::new(b'v').prefix()
}

/// The version in a key of [`all_differences`].
pub(crate) fn difference_version(key: &[u8]) -> u64 {
    super::id_at(key, 9).unwrap_or_default()
}

pub(crate) fn graph(id: u64) -> Bytes {
    Key::new(b'G').id(id).done()
}

pub(crate) fn graphs() -> KeyRange {
    Key::new(b'G').prefix()
}

pub(crate) fn statement(predicate: u64, object: u64, id: u64) -> Bytes {
    Key::new(b'I').id(predicate).id(object).id(id).done()
}

pub(crate) fn statements(predicate: u64) -> KeyRange {
    Key::new(b'I').id(predicate).prefix()
}

/// The statements of a predicate whose objects have these keys.
pub(crate) fn statements_between(predicate: u64, objects: RangeInclusive<u64>) -> KeyRange {
    let key = |object: &u64| Key::new(b'I').id(predicate).id(*object);
    KeyRange { start: key(objects.start()).done(), end: key(objects.end()).prefix().end }
}

/// The statements of all predicates.
pub(crate) fn by_predicate() -> KeyRange {
    Key::new(b'I').prefix()
}

/// Those of all predicates after one.
pub(crate) fn after_predicate(predicate: u64) -> KeyRange {
    let start = statements(predicate).end.expect("another key may follow those of a table");
    KeyRange { start, ..by_predicate() }
}

pub(crate) fn object(object: u64, id: u64) -> Bytes {
    Key::new(b'i').id(object).id(id).done()
}

pub(crate) fn objects(object: u64) -> KeyRange {
    Key::new(b'i').id(object).prefix()
}

/// All entries by object.
pub(crate) fn all_objects() -> KeyRange {
    Key::new(b'i').prefix()
}

pub(crate) fn subject(subject: u64, id: u64) -> Bytes {
    Key::new(b'q').id(subject).id(id).done()
}

pub(crate) fn subjects(subject: u64) -> KeyRange {
    Key::new(b'q').id(subject).prefix()
}

/// All entries by subject.
pub(crate) fn all_subjects() -> KeyRange {
    Key::new(b'q').prefix()
}

/// The object in a key of [`statements`].
pub(crate) fn object_of_statement(key: &[u8]) -> Option<u64> {
    super::id_at(key, 9)
}

/// A path that is named in the description of `id`, as text; none if it is too long for a key.
pub(crate) fn named_path(path: &StorePath, id: u64) -> Option<Bytes> {
    let path = path.to_string();
    let fits = path.len() <= LONGEST_NAMED_PATH;
    fits.then(|| Key::new(b'l').bytes(path.as_bytes()).bytes(&[0]).id(id).done())
}

/// The descriptions in which a path is named, and those in which one below it is.
pub(crate) fn naming(path: &StorePath) -> [KeyRange; 2] {
    let path = path.to_string();
    [[0], [b'/']].map(|end| Key::new(b'l').bytes(path.as_bytes()).bytes(&end).prefix())
}

/// With the letter, the separator and the id it is within the limit of a key of every engine.
const LONGEST_NAMED_PATH: usize = 2_000;

/// The index of statements, in its three orders, and of the paths that they name as text.
pub(crate) fn all_statements() -> [KeyRange; 4] {
    [b'I', b'i', b'q', b'l'].map(|table| Key::new(table).prefix())
}

pub(crate) fn grant(person: PersonId, parent: ResourceId, id: ResourceId) -> Bytes {
    Key::new(b'S').id(person.0).id(parent.0).id(id.0).done()
}

pub(crate) fn grants_to(person: PersonId) -> KeyRange {
    Key::new(b'S').id(person.0).prefix()
}

pub(crate) fn grants_in(person: PersonId, parent: ResourceId) -> KeyRange {
    Key::new(b'S').id(person.0).id(parent.0).prefix()
}

pub(crate) fn all_grants() -> KeyRange {
    Key::new(b'S').prefix()
}

/// The person and the collection in a key of [`all_grants`].
pub(crate) fn grant_parts(key: &[u8]) -> Option<(PersonId, ResourceId)> {
    Some((PersonId(super::id_at(key, 1)?), ResourceId(super::id_at(key, 9)?)))
}

/// The row of a statement of a spread description: hashes of its subject, predicate, object and of all of it.
pub(crate) fn quad(id: u64, hashes: [u64; 4]) -> Bytes {
    hashes.into_iter().fold(Key::new(b'Q').id(id), Key::id).done()
}

pub(crate) fn quads(id: u64) -> KeyRange {
    Key::new(b'Q').id(id).prefix()
}

/// Those of the statements about anything but the resource itself.
pub(crate) fn quads_of_others(id: u64) -> KeyRange {
    KeyRange { start: Key::new(b'Q').id(id).id(1).done(), ..quads(id) }
}

/// The rows of the statements with a subject and a predicate, and with an object if one is given.
pub(crate) fn quads_of(id: u64, subject: u64, predicate: u64, object: Option<u64>) -> KeyRange {
    let key = Key::new(b'Q').id(id).id(subject).id(predicate);
    object.into_iter().fold(key, Key::id).prefix()
}

pub(crate) fn all_quads() -> KeyRange {
    Key::new(b'Q').prefix()
}

/// The record of a removed resource that is kept.
pub(crate) fn trash(id: ResourceId) -> Bytes {
    Key::new(b'X').id(id.0).done()
}

pub(crate) fn all_trash() -> KeyRange {
    Key::new(b'X').prefix()
}

/// The entry of a removed resource by the collection that it was in and its name there.
pub(crate) fn removed(parent: ResourceId, name: &str, id: ResourceId) -> Bytes {
    let key = Key::new(b'r').id(parent.0).bytes(name.as_bytes());
    key.bytes(&[0]).id(id.0).done()
}

/// The entries of what was removed from a collection under this name, in the order of the ids.
pub(crate) fn removed_from(parent: ResourceId, name: &str) -> KeyRange {
    Key::new(b'r').id(parent.0).bytes(name.as_bytes()).bytes(&[0]).prefix()
}

pub(crate) fn all_removed() -> KeyRange {
    Key::new(b'r').prefix()
}

/// The entry of a removed resource in the order in which they expire.
pub(crate) fn expiry(until: Time, id: ResourceId) -> Bytes {
    Key::new(b'x').id(until.nanos().max(0) as u64).id(id.0).done()
}

/// The time and the resource in the key of an entry of [`all_expiries`].
pub(crate) fn expiring(key: &[u8]) -> (Time, ResourceId) {
    let until = super::first_id(key).unwrap_or_default();
    (Time::from_nanos(until as i64), ResourceId(super::last_id(key).unwrap_or_default()))
}

/// Items that expire until then, the first to expire first.
pub(crate) fn expired(now: Time) -> KeyRange {
    let end = now.plus(Duration::from_nanos(1));
    KeyRange { end: Some(expiry(end, ResourceId(0))), ..all_expiries() }
}

/// The entry of a removed resource by the collection whose limit it counts for, in the order of removal.
pub(crate) fn limited(collection: ResourceId, removed: Time, id: ResourceId) -> Bytes {
    let key = Key::new(b'E').id(collection.0);
    key.id(removed.nanos().max(0) as u64).id(id.0).done()
}

/// What counts for the limit of a collection, what was removed first before the rest.
pub(crate) fn limited_by(collection: ResourceId) -> KeyRange {
    Key::new(b'E').id(collection.0).prefix()
}

pub(crate) fn all_limited() -> KeyRange {
    Key::new(b'E').prefix()
}

pub(crate) fn all_expiries() -> KeyRange {
    Key::new(b'x').prefix()
}
