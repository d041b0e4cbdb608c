//! Bytes in: a stream becomes a content that is durable but that nothing refers to yet.
//!
//! Small contents stay inline, so that many small files cost neither a file nor a sync
//! each; larger ones go to a blob. Memory is bounded by the writer of the blob.

use bytes::{Bytes, BytesMut};
use cenote_blob::{Algorithm, BlobWriter, Hasher};
use futures_core::Stream;
use futures_util::{StreamExt, pin_mut};

use crate::catalog::BlobRecord;
use crate::model::{Content, Digests, Extent, Piece};
use crate::{BlobId, Error, ErrorKind, Result, Store};

/// Sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Contents of at most this many bytes are kept in the catalog.
    pub inline: usize,
    /// The largest content.
    pub content: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { inline: 64 << 10, content: 1 << 50 }
    }
}

/// What the sender says of the bytes; they are refused if it is not so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// How many there are.
    pub length: Option<u64>,
    /// Their SHA-256.
    pub sha256: Option<[u8; 32]>,
    /// Their MD5.
    pub md5: Option<[u8; 16]>,
    /// Other digests to compute.
    pub also: Vec<Algorithm>,
}

/// Bytes that have arrived, durable, and not yet referred to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    pub(crate) content: Content,
    pub(crate) size: u64,
    pub(crate) digests: Digests,
    pub(crate) blob: Option<(BlobId, BlobRecord)>,
}

impl Received {
    pub(super) fn blob_id(&self) -> Option<BlobId> {
        self.blob.as_ref().map(|(blob, _)| *blob)
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

impl Store {
    /// Takes in a stream, without an asker: whoever calls has made sure that they may write.
    pub async fn receive<E>(
        &self,
        bytes: impl Stream<Item = Result<Bytes, E>>,
        expected: &Expected,
    ) -> Result<Received>
    where
        E: std::fmt::Display,
    {
        self.receive_inline_up_to(self.parts().limits.inline, bytes, expected).await
    }

    /// The same with another limit for what is kept in the catalog.
    pub(super) async fn receive_inline_up_to<E>(
        &self,
        inline: usize,
        bytes: impl Stream<Item = Result<Bytes, E>>,
        expected: &Expected,
    ) -> Result<Received>
    where
        E: std::fmt::Display,
    {
        pin_mut!(bytes);
        let mut receiver =
            Receiver { store: self, expected, inline, head: BytesMut::new(), blob: None, size: 0 };
        while let Some(chunk) = bytes.next().await {
            let chunk = chunk.map_err(|cause| cut_short(&cause))?;
            receiver.take(chunk).await?;
        }
        receiver.finish().await
    }

    /// Takes in bytes that are small enough to stay in the catalog.
    pub fn receive_inline(&self, bytes: &[u8], expected: &Expected) -> Result<Received> {
        let mut hasher = expected.hasher();
        hasher.update(bytes);
        let digests = hasher.finish();
        expected.check(bytes.len() as u64, &digests)?;
        Ok(Received {
            content: Content {
                extents: extent(bytes.len() as u64, || Piece::Inline(bytes.to_vec())),
            },
            size: bytes.len() as u64,
            digests: (&digests).into(),
            blob: None,
        })
    }
}

struct Receiver<'a> {
    store: &'a Store,
    expected: &'a Expected,
    inline: usize,
    head: BytesMut,
    blob: Option<BlobWriter>,
    size: u64,
}

impl Receiver<'_> {
    async fn take(&mut self, chunk: Bytes) -> Result<()> {
        self.size += chunk.len() as u64;
        self.check_size()?;
        if self.blob.is_none() && self.size <= self.inline as u64 {
            self.head.extend_from_slice(&chunk);
            return Ok(());
        }
        let head = std::mem::take(&mut self.head).freeze();
        let blob = self.blob.get_or_insert_with(|| self.store.new_blob(self.expected));
        for run in [head, chunk] {
            blob.write(run).await.map_err(|error| self.store.failed_write(error))?;
        }
        Ok(())
    }

    fn check_size(&self) -> Result<()> {
        if self.expected.length.is_some_and(|length| self.size > length) {
            return Err(mismatch("more bytes arrived than were announced"));
        }
        if self.size > self.store.parts().limits.content {
            return Err(Error::new(ErrorKind::TooLarge, "larger than a content may be"));
        }
        Ok(())
    }

    async fn finish(self) -> Result<Received> {
        let Some(blob) = self.blob else {
            return self.store.receive_inline(&self.head, self.expected);
        };
        if self.expected.length.is_some_and(|length| self.size != length) {
            blob.abort().await;
            return Err(mismatch("fewer bytes arrived than were announced"));
        }
        let written = blob.finish().await.map_err(|error| self.store.failed_write(error))?;
        if let Err(error) = self.expected.check(written.size, &written.digests) {
            self.store.discard(written.id).await;
            return Err(error);
        }
        let digests = Digests::from(&written.digests);
        let places = vec![self.store.place().name().to_owned()];
        let record = BlobRecord { size: written.size, digests: digests.clone(), places };
        Ok(Received {
            content: Content { extents: extent(written.size, || Piece::Blob(written.id)) },
            size: written.size,
            digests,
            blob: Some((written.id, record)),
        })
    }
}

impl Store {
    fn new_blob(&self, expected: &Expected) -> BlobWriter {
        self.place().writer(self.new_blob_id(), expected.algorithms())
    }

    /// Passes the outcome of a publication on. If that is sure to have failed, the blob that was to be
    /// published goes.
    pub(super) async fn published<T>(&self, blob: Option<BlobId>, outcome: Result<T>) -> Result<T> {
        if let (Err(error), Some(blob)) = (&outcome, blob)
            && error.kind() != ErrorKind::Unknown
        {
            self.discard(blob).await;
        }
        outcome
    }

    /// Deletes a blob that nothing came to refer to. If that fails, the sweep finds it.
    pub(crate) async fn discard(&self, blob: BlobId) {
        if let Err(error) = self.place().delete(blob).await {
            tracing::warn!(%blob, %error, "could not delete an unused blob; the sweep will");
        }
    }
}

impl Expected {
    fn algorithms(&self) -> Vec<Algorithm> {
        let md5 = self.md5.map(|_| Algorithm::Md5);
        self.also.iter().copied().chain(md5).collect()
    }

    fn hasher(&self) -> Hasher {
        Hasher::new(self.algorithms())
    }

    fn check(&self, size: u64, digests: &cenote_blob::Digests) -> Result<()> {
        if self.length.is_some_and(|length| length != size) {
            return Err(mismatch("the length is not the one announced"));
        }
        if self.sha256.is_some_and(|sha256| sha256 != digests.sha256) {
            return Err(mismatch("the SHA-256 is not the one announced"));
        }
        if self.md5.is_some_and(|md5| digests.get(Algorithm::Md5) != Some(&md5[..])) {
            return Err(mismatch("the MD5 is not the one announced"));
        }
        Ok(())
    }
}

fn extent(length: u64, piece: impl FnOnce() -> Piece) -> Vec<Extent> {
    match length {
        0 => Vec::new(),
        _ => vec![Extent { offset: 0, length, start: 0, piece: piece() }],
    }
}

fn mismatch(message: &str) -> Error {
    Error::new(ErrorKind::Mismatch, message).with_hint("send it again; nothing was stored")
}

fn cut_short(cause: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Mismatch, format!("the bytes ended early: {cause}"))
        .with_hint("send it again; nothing was stored")
}
