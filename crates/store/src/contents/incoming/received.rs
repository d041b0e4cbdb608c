//! Bytes that have arrived and that nothing refers to yet.

use std::sync::Arc;

use cenote_blob::{Blocks, Sha256State};

use super::expected::Expected;
use crate::catalog::BlobRecord;
use crate::contents::media_type::Sniffed;
use crate::model::{Content, Digests, Extent, Piece, PlaceId};
use crate::places::Claim;
use crate::{BlobId, Result};

/// Sizes, and how many parts there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Contents of at most this many bytes are kept in the catalog.
    pub inline: usize,
    /// The largest content.
    pub content: u64,
    /// The maximum number of parts of an upload. Concurrent parts may exceed it slightly.
    pub parts: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { inline: 64 << 10, content: 1 << 50, parts: 100_000 }
    }
}

/// Bytes that have arrived, durable, and not yet referred to.
#[derive(Debug, Clone)]
pub struct Received {
    pub(crate) content: Content,
    pub(crate) size: u64,
    pub(crate) digests: Digests,
    pub(crate) blob: Option<NewBlob>,
    /// The place or group to which they were sent, if one was given.
    pub(crate) named: Option<PlaceId>,
    /// The state of the SHA-256 at their end, if they arrived in order from the first byte of the whole.
    pub(crate) state: Option<Sha256State>,
    /// The media type according to their first bytes.
    pub(crate) sniffed: Sniffed,
}

/// The blob of received bytes; see [`Store::discard_unused`].
#[derive(Debug, Clone)]
pub struct ReceivedBlob(pub(super) NewBlob);

/// A blob that nothing refers to yet. It is not deleted while this or a clone of it exists; if it is not known then what happened to
/// it, the sweep deletes it unless the catalog knows it.
#[derive(Debug, Clone)]
pub(crate) struct NewBlob {
    pub(crate) id: BlobId,
    pub(crate) record: BlobRecord,
    /// The checksums of its blocks; none for a file that was not read.
    pub(crate) blocks: Option<Arc<Blocks>>,
    pub(crate) claims: Claimed,
}

/// The right to make each copy of a new blob; none of files that are not ours.
pub(crate) type Claimed = Vec<Claim>;

impl Received {
    /// Bytes that are small enough to stay in the catalog.
    pub fn inline(bytes: &[u8], expected: &Expected) -> Result<Self> {
        let mut hasher = expected.hasher();
        hasher.update(bytes);
        let digests = hasher.finish();
        expected.check(bytes.len() as u64, &digests)?;
        let extents = extent(bytes.len() as u64, || Piece::Inline(bytes.to_vec()));
        Ok(Self {
            content: Content { extents },
            size: bytes.len() as u64,
            digests: (&digests).into(),
            blob: None,
            named: None,
            state: None,
            sniffed: Sniffed::of(bytes),
        })
    }

    /// Their blob, if they are not kept in the catalog.
    pub fn blob(&self) -> Option<ReceivedBlob> {
        self.blob.clone().map(ReceivedBlob)
    }

    /// How many bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Their digests.
    pub fn digests(&self) -> &Digests {
        &self.digests
    }
}

pub(super) fn extent(length: u64, piece: impl FnOnce() -> Piece) -> Vec<Extent> {
    match length {
        0 => Vec::new(),
        _ => vec![Extent { offset: 0, length, start: 0, piece: piece() }],
    }
}
