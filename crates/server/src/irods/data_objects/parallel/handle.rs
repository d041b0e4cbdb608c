//! Handles of parallel writes: all that a server has to know of one, as text that clients send with each write.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use cenote_store::{PlaceId, StorePath, UploadId};

/// A parallel write. Not `Debug`, since it can contain a ticket.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Handle {
    /// The number of its lock.
    pub(super) lock: u64,
    /// Where its bytes are kept until it is shut down.
    pub(super) until_then: Kept,
    /// The place to store them in, if one was specified.
    pub(super) place: Option<PlaceId>,
    /// The ticket with which it was started, which clients do not send again.
    pub(super) ticket: Option<String>,
    pub(super) path: StorePath,
}

/// Where the bytes of a parallel write are kept until it is shut down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// In the parts of an upload, which replace the content.
    Parts(UploadId),
    /// In a stage, which began from the content.
    Stage(UploadId),
}

impl Kept {
    pub(super) fn upload(self) -> UploadId {
        match self {
            Self::Parts(id) | Self::Stage(id) => id,
        }
    }

    /// What distinguishes a stage from an upload in parts.
    const STAGE: char = 's';

    fn encode(self) -> String {
        match self {
            Self::Parts(id) => id.to_string(),
            Self::Stage(id) => format!("{}{id}", Self::STAGE),
        }
    }

    fn decode(part: &str) -> Option<Self> {
        match part.strip_prefix(Self::STAGE) {
            Some(id) => id.parse().ok().map(Self::Stage),
            None => part.parse().ok().map(Self::Parts),
        }
    }
}

/// The place in which bytes written through a handle are stored.
pub(crate) fn place(handle: &str) -> Option<PlaceId> {
    Handle::decode(handle)?.place
}

impl Handle {
    pub(super) fn encode(&self) -> String {
        let kept = self.until_then.encode();
        let path = BASE64_URL_SAFE_NO_PAD.encode(self.path.to_string());
        let place = self.place.map(|id| id.to_string()).unwrap_or_default();
        let ticket = self.ticket.as_deref().unwrap_or_default();
        let ticket = BASE64_URL_SAFE_NO_PAD.encode(ticket);
        format!("{}.{kept}.{place}.{ticket}.{path}", self.lock)
    }

    pub(super) fn decode(handle: &str) -> Option<Self> {
        let parts: Vec<&str> = handle.split('.').collect();
        let [lock, kept, place, ticket, path] = parts[..] else { return None };
        Some(Self {
            lock: lock.parse().ok()?,
            until_then: Kept::decode(kept)?,
            place: some(place)?.map(PlaceId),
            ticket: Some(decoded(ticket)?).filter(|ticket| !ticket.is_empty()),
            path: decoded(path)?.parse().ok()?,
        })
    }
}

/// The value of an optional part of a handle.
fn some<T: std::str::FromStr>(part: &str) -> Option<Option<T>> {
    if part.is_empty() { Some(None) } else { part.parse().ok().map(Some) }
}

fn decoded(part: &str) -> Option<String> {
    String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

/// The ticket with which a handle was made.
pub(crate) fn ticket(handle: &str) -> Option<String> {
    Handle::decode(handle)?.ticket
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_handle_round_trips(
            lock: u64, upload: (u64, Option<u64>, bool), place: Option<u64>,
            ticket in proptest::option::of("\\PC{1,5}"), path in "(/[a-z ü]{1,5}){1,3}",
        ) {
            let (number, secret, is_stage) = upload;
            let id = UploadId { number, secret };
            let until_then = if is_stage { Kept::Stage(id) } else { Kept::Parts(id) };
            let (place, path) = (place.map(PlaceId), path.parse().unwrap());
            let handle = Handle { lock, until_then, place, ticket, path };
            prop_assert!(Handle::decode(&handle.encode()) == Some(handle));
        }

        #[test]
        fn decoding_random_bytes_as_a_handle_does_not_panic(noise in "\\PC{0,20}") {
            let _ = Handle::decode(&noise);
        }
    }
}
