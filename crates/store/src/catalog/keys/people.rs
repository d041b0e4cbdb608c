//! Users and groups, and what they show: tokens and tickets.

use bytes::Bytes;
use cenote_kv::KeyRange;

use super::Key;
use crate::model::{PersonId, ResourceId};

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

pub(crate) fn ticket(digest: &[u8]) -> Bytes {
    Key::new(b'T').bytes(digest).done()
}

/// The tickets whose digest begins so.
pub(crate) fn tickets_like(begin: &[u8]) -> KeyRange {
    Key::new(b'T').bytes(begin).prefix()
}

pub(crate) fn tickets() -> KeyRange {
    Key::new(b'T').prefix()
}

pub(crate) fn ticket_on(id: ResourceId, digest: &[u8]) -> Bytes {
    Key::new(b'w').id(id.0).bytes(digest).done()
}

/// Where the digest begins in the key of a ticket on a resource.
pub(crate) const TICKET_AT: usize = 9;

pub(crate) fn tickets_on(id: ResourceId) -> KeyRange {
    Key::new(b'w').id(id.0).prefix()
}

pub(crate) fn all_tickets_on() -> KeyRange {
    Key::new(b'w').prefix()
}
