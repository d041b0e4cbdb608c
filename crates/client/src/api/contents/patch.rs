//! Modifying the content of an object in place.

use bytes::Bytes;
use http::header::{HeaderName, IF_MATCH};

use crate::call::{Call, Payload, bytes_of};
use crate::digest::Sha256Digest;
use crate::{At, Client, Resource, Result};

/// How to modify a content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Patch {
    /// Write bytes at this offset; any gap after the current end is filled with zeros.
    Write(u64, Bytes),
    /// Append bytes.
    Append(Bytes),
    /// Truncate it to this size, or extend it with zeros.
    Truncate(u64),
}

impl Client {
    /// Modifies the content of an object in place; the server verifies the bytes. If a tag is given, only while the
    /// content, or the state, has it.
    ///
    /// # Errors
    /// [`Kind::Precondition`](crate::Kind::Precondition) if it has changed.
    pub async fn patch(
        &self,
        at: impl Into<At>,
        patch: &Patch,
        if_match: Option<&str>,
    ) -> Result<Resource> {
        let mut call = patching(Call::patch(&bytes_of(&at.into())), patch)?;
        if let Some(tag) = if_match {
            // After a first success, a repetition would fail.
            call = call.header(IF_MATCH, tag)?.once();
        }
        self.json(call).await
    }
}

/// The call, with the modification that it requests.
pub(super) fn patching(call: Call, patch: &Patch) -> Result<Call> {
    Ok(match patch {
        Patch::Write(offset, bytes) => with(call.query("offset", offset), bytes)?.repeatable(),
        // A repetition would append the bytes twice.
        Patch::Append(bytes) => with(call.query("append", true), bytes)?,
        Patch::Truncate(size) => call.query("truncate", size).repeatable(),
    })
}

fn with(call: Call, bytes: &Bytes) -> Result<Call> {
    let digest = Sha256Digest::of(bytes).header();
    let call = call.body(Payload::Bytes(bytes.clone()));
    call.header(HeaderName::from_static("repr-digest"), &digest)
}
