//! Verified reading: a stream that is hashed concurrently while it is read.
//!
//! The last chunk is held back until the digest is known to be right: a caller that forwards the stream can never
//! have forwarded all of a damaged blob.
//!
//! Inspecting reads all of a blob to compute its current digests.

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::hashing::Hashing;
use crate::{BlobId, Blocks, Damage, Digests, Hasher, Place, ReadStream, Result, Sha256State};

impl Place {
    /// All `size` bytes of the blob `id`, whose SHA-256 must be `sha256`.
    ///
    /// # Errors
    /// [`Error::Damaged`](crate::Error::Damaged) instead of the last chunk if the blob is shorter or its digest
    /// differs.
    pub fn read_verified(&self, id: BlobId, size: u64, sha256: [u8; 32]) -> ReadStream {
        let place = self.clone();
        let begin = async move {
            let chunks = place.read(id, 0..size);
            let hashing = Hashing::new(Sha256State::default(), Sha256State::update);
            let verified = Verified { place, id, sha256, chunks, hashing, held: None };
            stream::try_unfold(Some(verified), Verified::step)
        };
        stream::once(begin).flatten().boxed()
    }

    /// Reads all `size` bytes of the blob `id`: returns their current digests, and the checksums of their blocks.
    pub async fn inspect(&self, id: BlobId, size: u64) -> Result<(Digests, Blocks)> {
        let mut hashing = Hashing::new(Hasher::default(), Hasher::update);
        let mut chunks = self.read(id, 0..size);
        while let Some(chunk) = chunks.try_next().await? {
            hashing.update(vec![chunk]).await.map_err(|lost| self.error(id, lost))?;
        }
        let hasher = hashing.finish().await.map_err(|lost| self.error(id, lost))?;
        let blocks = hasher.blocks();
        Ok((hasher.finish(), blocks))
    }
}

struct Verified {
    place: Place,
    id: BlobId,
    sha256: [u8; 32],
    chunks: ReadStream,
    hashing: Hashing<Sha256State>,
    held: Option<Bytes>,
}

impl Verified {
    /// The next chunk to yield, and the state after it, which is `None` at the end.
    async fn step(state: Option<Self>) -> Result<Option<(Bytes, Option<Self>)>> {
        let Some(mut state) = state else { return Ok(None) };
        while let Some(chunk) = state.chunks.try_next().await? {
            state.hash(chunk.clone()).await?;
            if let Some(ready) = state.held.replace(chunk) {
                return Ok(Some((ready, Some(state))));
            }
        }
        state.check().await?;
        Ok(state.held.map(|last| (last, None)))
    }

    async fn hash(&mut self, chunk: Bytes) -> Result<()> {
        let hashed = self.hashing.update(vec![chunk]).await;
        hashed.map_err(|lost| self.place.error(self.id, lost))
    }

    async fn check(&mut self) -> Result<()> {
        let hashed = self.hashing.finish().await;
        let state = hashed.map_err(|lost| self.place.error(self.id, lost))?;
        let (expected, actual) = (self.sha256, state.sha256());
        match actual == expected {
            true => Ok(()),
            false => Err(self.place.damaged(self.id, Damage::Digest { expected, actual })),
        }
    }
}
