//! Every key of the catalog. Nothing else knows the layout.
//!
//! A key is one letter for the table, then its parts: ids as big-endian `u64`, so
//! that scans follow their order; names and tokens as their bytes, always last.
//! `docs/format.md` shows the same table with the values.
//!
//! | key | value | what |
//! |---|---|---|
//! | `N` id | `Resource` | a resource |
//! | `C` parent name | `Child` | the child of that name |
//! | `K` content | `Content` | the extents of a content |
//! | `k` content seq | `Extent` | a patch over them, in the order of writing |
//! | `R` content id version | empty | who refers to a content: a resource (version 0), a version of it, or a stale replica |
//! | `B` blob | `BlobRecord` | a blob: its size, digests and copies |
//! | `b` blob content | empty | which contents refer to a blob |
//! | `G` id | `Graph` | the description of a resource or a person |
//! | `I` predicate object id | empty | who states this: 64-bit hashes of both terms |
//! | `V` id version | `VersionRecord` | a version of an object |
//! | `F` position | `ChangeRecord` | the change feed, in commit order |
//! | `U` person | `Person` | a user or group |
//! | `u` name | `PersonId` | the user or group of that name |
//! | `M` group user | empty | who is in a group |
//! | `m` user group | empty | the groups of a user |
//! | `t` sha256(token) | `TokenRecord` | an access token |
//! | `y` user token-id | sha256(token) | the tokens of a user |
//! | `T` ticket | `TicketRecord` | a ticket |
//! | `w` resource ticket | empty | the tickets on a resource |
//! | `P` upload | `UploadRecord` | an upload that is under way |
//! | `p` upload offset | `PartRecord` | a part that has arrived |
//! | `L` place | `PlaceInfo` | a place for contents |
//! | `J` id | `JobRecord` | work that a restart resumes |
//! | `g` time content | empty | a content that may have lost its last reference |
//! | `d` id | empty | an object whose content has no SHA-256 yet |
//! | `c` id what | counter | children and bytes of a collection; of the store, with id 0; copies of blobs in a place |
//! | `O` opening 0 name | bytes | a note of an opening, in its own words |
//! | `s` what | | settings of the store: its format, the next free id, the default place, where the change feed begins |

use bytes::Bytes;
use cenote_blob::BlobId;
use cenote_kv::KeyRange;

use crate::model::{ContentId, PersonId, PlaceId, ResourceId, Time};

/// A key under construction.
struct Key(Vec<u8>);

impl Key {
    fn new(table: u8) -> Self {
        let mut bytes = Vec::with_capacity(32);
        bytes.push(table);
        Self(bytes)
    }

    fn id(self, id: u64) -> Self {
        self.bytes(&id.to_be_bytes())
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn done(self) -> Bytes {
        self.0.into()
    }

    fn prefix(self) -> KeyRange {
        KeyRange::prefix(self.0)
    }
}

pub(crate) fn resource(id: ResourceId) -> Bytes {
    Key::new(b'N').id(id.0).done()
}

pub(crate) fn resources_between(first: ResourceId, last: ResourceId) -> KeyRange {
    KeyRange::new(resource(first), Key::new(b'N').id(last.0).bytes(&[0]).done())
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

pub(crate) fn blob_user(blob: BlobId, content: ContentId) -> Bytes {
    Key::new(b'b').bytes(&blob.to_bytes()).id(content.0).done()
}

pub(crate) fn blob_users(blob: BlobId) -> KeyRange {
    Key::new(b'b').bytes(&blob.to_bytes()).prefix()
}

pub(crate) fn all_blob_users() -> KeyRange {
    Key::new(b'b').prefix()
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

pub(crate) fn statements(predicate: u64, object: Option<u64>) -> KeyRange {
    let key = Key::new(b'I').id(predicate);
    match object {
        Some(object) => key.id(object).prefix(),
        None => key.prefix(),
    }
}

pub(crate) fn all_statements() -> KeyRange {
    Key::new(b'I').prefix()
}

/// The statements of the predicates that come after one.
pub(crate) fn statements_after(predicate: Option<u64>) -> KeyRange {
    let all = all_statements();
    match predicate.map(|predicate| statements(predicate, None).end) {
        Some(Some(start)) => KeyRange { start, ..all },
        Some(None) | None => all,
    }
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

/// The prefix to which the engine appends the position of a change.
pub(crate) fn feed() -> Bytes {
    Key::new(b'F').done()
}

/// Changes after a position; a position is the part of a feed key after its letter.
pub(crate) fn feed_after(position: Option<[u8; 12]>) -> KeyRange {
    let range = Key::new(b'F').prefix();
    match position {
        Some(position) => range.after(&Key::new(b'F').bytes(&position).done()),
        None => range,
    }
}

/// The position in a key of [`feed_after`].
pub(crate) fn feed_position(key: &[u8]) -> Option<[u8; 12]> {
    key.get(1..)?.try_into().ok()
}

pub(crate) fn person(id: PersonId) -> Bytes {
    Key::new(b'U').id(id.0).done()
}

pub(crate) fn persons() -> KeyRange {
    Key::new(b'U').prefix()
}

pub(crate) fn person_name(name: &str) -> Bytes {
    Key::new(b'u').bytes(name.as_bytes()).done()
}

pub(crate) fn all_person_names() -> KeyRange {
    Key::new(b'u').prefix()
}

pub(crate) fn member(group: PersonId, user: PersonId) -> Bytes {
    Key::new(b'M').id(group.0).id(user.0).done()
}

pub(crate) fn members(group: PersonId) -> KeyRange {
    Key::new(b'M').id(group.0).prefix()
}

pub(crate) fn all_members() -> KeyRange {
    Key::new(b'M').prefix()
}

pub(crate) fn membership(user: PersonId, group: PersonId) -> Bytes {
    Key::new(b'm').id(user.0).id(group.0).done()
}

pub(crate) fn memberships(user: PersonId) -> KeyRange {
    Key::new(b'm').id(user.0).prefix()
}

pub(crate) fn all_memberships() -> KeyRange {
    Key::new(b'm').prefix()
}

pub(crate) fn token(digest: &[u8; 32]) -> Bytes {
    Key::new(b't').bytes(digest).done()
}

pub(crate) fn tokens() -> KeyRange {
    Key::new(b't').prefix()
}

pub(crate) fn token_of(user: PersonId, id: u64) -> Bytes {
    Key::new(b'y').id(user.0).id(id).done()
}

pub(crate) fn tokens_of(user: PersonId) -> KeyRange {
    Key::new(b'y').id(user.0).prefix()
}

pub(crate) fn all_tokens_of() -> KeyRange {
    Key::new(b'y').prefix()
}

pub(crate) fn ticket(ticket: &str) -> Bytes {
    Key::new(b'T').bytes(ticket.as_bytes()).done()
}

pub(crate) fn tickets() -> KeyRange {
    Key::new(b'T').prefix()
}

pub(crate) fn ticket_on(id: ResourceId, ticket: &str) -> Bytes {
    Key::new(b'w').id(id.0).bytes(ticket.as_bytes()).done()
}

pub(crate) fn tickets_on(id: ResourceId) -> KeyRange {
    Key::new(b'w').id(id.0).prefix()
}

pub(crate) fn all_tickets_on() -> KeyRange {
    Key::new(b'w').prefix()
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

/// The blob and the content in a key of [`blob_users`].
pub(crate) fn blob_user_parts(key: &[u8]) -> Option<(BlobId, ContentId)> {
    let blob = key.get(1..17)?.try_into().ok()?;
    Some((BlobId::from_bytes(blob), ContentId(id_at(key, 17)?)))
}

/// The blob in a key of [`blobs`].
pub(crate) fn blob_id(key: &[u8]) -> Option<BlobId> {
    Some(BlobId::from_bytes(key.get(1..)?.try_into().ok()?))
}

pub(crate) fn undigested(id: ResourceId) -> Bytes {
    Key::new(b'd').id(id.0).done()
}

pub(crate) fn all_undigested() -> KeyRange {
    Key::new(b'd').prefix()
}

/// A counter of a collection or a place, or of the store with id 0.
pub(crate) fn counter(id: u64, what: Counter) -> Bytes {
    Key::new(b'c').id(id).bytes(&[what as u8]).done()
}

pub(crate) fn counters() -> KeyRange {
    Key::new(b'c').prefix()
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counter {
    /// Children of a collection; copies in a place; all resources of the store but the root.
    Resources = b'n' as isize,
    /// Bytes of the objects in a collection; of the copies in a place; of all objects in the store.
    Bytes = b's' as isize,
    /// Replicas that are recorded in a place.
    Replicas = b'r' as isize,
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

pub(crate) fn setting(what: &str) -> Bytes {
    Key::new(b's').bytes(what.as_bytes()).done()
}

/// The id of the resource, person, content … right after the letter of a key.
pub(crate) fn first_id(key: &[u8]) -> Option<u64> {
    id_at(key, 1)
}

/// The id in the last 8 bytes of a key.
pub(crate) fn last_id(key: &[u8]) -> Option<u64> {
    id_at(key, key.len().checked_sub(8)?)
}

/// The id at byte `at` of a key.
pub(crate) fn id_at(key: &[u8], at: usize) -> Option<u64> {
    let bytes = key.get(at..at.checked_add(8)?)?;
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}
