//! A file outside of all places, read in place.
//!
//! It belongs to somebody else, who may change or remove it: this code never writes or deletes it, and its contents
//! are valid only if length and digest match.

use std::ops::Range;
use std::path::Path;

use crate::{BlobId, Blocks, Digests, Place, ReadStream, Result};

/// A file that is read as a blob in place, and never written or deleted.
#[derive(Debug, Clone)]
pub struct Outside(Place);

impl Outside {
    /// The file at the absolute `path`; errors call it `name`. Whether it exists is only checked when it is first used.
    ///
    /// # Errors
    /// [`Error::Settings`](crate::Error::Settings) for a path that is not absolute.
    pub fn new(name: &str, path: impl AsRef<Path>) -> Result<Self> {
        Place::outside(name, path.as_ref()).map(Self)
    }

    /// Its current length in bytes, or `None` if there is no file.
    pub async fn size(&self) -> Result<Option<u64>> {
        self.0.size(NOBODY).await
    }

    /// Like [`Place::read`]; errors name the blob `id`.
    pub fn read(&self, id: BlobId, range: Range<u64>) -> ReadStream {
        self.0.read(id, range)
    }

    /// Like [`Place::read_checked`]; errors name the blob `id`.
    pub fn read_checked(&self, id: BlobId, range: Range<u64>, blocks: Blocks) -> ReadStream {
        self.0.read_checked(id, range, blocks)
    }

    /// Like [`Place::inspect`]; errors name the blob `id`.
    pub async fn inspect(&self, id: BlobId, size: u64) -> Result<(Digests, Blocks)> {
        self.0.inspect(id, size).await
    }

    /// Like [`Place::read_verified`]; errors name the blob `id`.
    pub fn read_verified(&self, id: BlobId, size: u64, sha256: [u8; 32]) -> ReadStream {
        self.0.read_verified(id, size, sha256)
    }
}

/// The id when asking for the length, which is not about a particular blob.
const NOBODY: BlobId = BlobId::from_bytes([0; 16]);
