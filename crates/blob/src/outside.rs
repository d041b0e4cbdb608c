//! A file outside of every place, read where it lies.
//!
//! Somebody else made it and may change or remove it: nothing here writes or deletes it, and
//! what it holds counts only as far as its length and digest are what they should be.

use std::ops::Range;
use std::path::Path;

use crate::{BlobId, Blocks, Digests, Place, ReadStream, Result};

/// A file that is read as a blob where it lies, and never written or deleted.
#[derive(Debug, Clone)]
pub struct Outside(Place);

impl Outside {
    /// The file at the absolute `path`; errors name it by `name`. Whether it is there shows when it is
    /// first used.
    ///
    /// # Errors
    /// [`Error::Settings`](crate::Error::Settings) for a path that is not absolute.
    pub fn new(name: &str, path: impl AsRef<Path>) -> Result<Self> {
        Place::outside(name, path.as_ref()).map(Self)
    }

    /// Its length in bytes now, or `None` where no file is.
    pub async fn size(&self) -> Result<Option<u64>> {
        self.0.size(NOBODY).await
    }

    /// As [`Place::read`]; errors say that it stands for the blob `id`.
    pub fn read(&self, id: BlobId, range: Range<u64>) -> ReadStream {
        self.0.read(id, range)
    }

    /// As [`Place::read_checked`]; errors say that it stands for the blob `id`.
    pub fn read_checked(&self, id: BlobId, range: Range<u64>, blocks: Blocks) -> ReadStream {
        self.0.read_checked(id, range, blocks)
    }

    /// As [`Place::inspect`]; errors say that it stands for the blob `id`.
    pub async fn inspect(&self, id: BlobId, size: u64) -> Result<(Digests, Blocks)> {
        self.0.inspect(id, size).await
    }

    /// As [`Place::read_verified`]; errors say that it stands for the blob `id`.
    pub fn read_verified(&self, id: BlobId, size: u64, sha256: [u8; 32]) -> ReadStream {
        self.0.read_verified(id, size, sha256)
    }
}

/// Asking for a length names no blob.
const NOBODY: BlobId = BlobId::from_bytes([0; 16]);
