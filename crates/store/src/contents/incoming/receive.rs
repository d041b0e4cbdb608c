//! Bytes in: a stream becomes a content that is durable but that nothing refers to yet.
//!
//! Small contents stay inline, so that many small files cost neither a file nor a sync
//! each; larger ones go to a blob, of which each place of a group gets a copy as the bytes come. Memory is bounded
//! by the writers of the blob.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use cenote_blob::{BlobWriter, Blocks, Sha256State, Written};
use futures_core::Stream;
use futures_util::future::{join_all, try_join_all};
use futures_util::{StreamExt, pin_mut};

use super::expected::{Expected, mismatched};
use super::intake::{Intake, Running};
use crate::catalog::{BlobCopy, BlobRecord};
use crate::contents::media_type::{FirstBytes, Sniffed};
use crate::model::{Content, Digests, Extent, Piece, PlaceId};
use crate::places::{Claim, Destination};
use crate::trash::LOOK;
use crate::{BlobId, Error, ErrorKind, Result, Store};

/// Sizes, and how many parts there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Contents of at most this many bytes are kept in the catalog.
    pub inline: usize,
    /// The largest content.
    pub content: u64,
    /// The parts of one upload. Some more may come if several come at once.
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
    /// The place or group that they were sent to, if somebody named one.
    pub(crate) named: Option<PlaceId>,
    /// Where the SHA-256 stands at their end, if they came in order from the first byte of the whole.
    pub(crate) state: Option<Sha256State>,
    /// What their first bytes tell of their media type.
    pub(crate) sniffed: Sniffed,
}

/// The blob of received bytes; see [`Store::discard_unused`].
#[derive(Debug, Clone)]
pub struct ReceivedBlob(NewBlob);

/// A blob that nothing refers to yet. Nobody deletes it while this or a clone of it is there; if it is not known then what became of
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
        self.receive_at(None, bytes, expected).await
    }

    /// The same into a place, or each place of a group; without one, into where new contents go. In a place that
    /// is named, even small contents become blobs. Whoever publishes them need not name it again.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for a place that is not there; [`ErrorKind::Unavailable`] if nothing in it takes
    /// contents, or one that does fails: then none of them keeps the bytes.
    pub async fn receive_at<E>(
        &self,
        place: Option<PlaceId>,
        bytes: impl Stream<Item = Result<Bytes, E>>,
        expected: &Expected,
    ) -> Result<Received>
    where
        E: std::fmt::Display,
    {
        let destination = self.known().destination(place)?;
        let inline = self.inline_in(&destination);
        self.receive_into(destination, inline, bytes, expected).await
    }

    /// How many bytes may stay in the catalog: none of those that were sent to a place by its name.
    pub(crate) fn inline_in(&self, destination: &Destination) -> usize {
        if destination.named.is_some() { 0 } else { self.parts().limits.inline }
    }

    /// The same with another limit for what is kept in the catalog.
    pub(crate) async fn receive_into<E>(
        &self,
        destination: Destination,
        inline: usize,
        bytes: impl Stream<Item = Result<Bytes, E>>,
        expected: &Expected,
    ) -> Result<Received>
    where
        E: std::fmt::Display,
    {
        self.receive_as(Intake { destination, expected, inline, running: Running::No }, bytes).await
    }

    /// The same for bytes that may follow others.
    pub(crate) async fn receive_as<E>(
        &self,
        intake: Intake<'_>,
        bytes: impl Stream<Item = Result<Bytes, E>>,
    ) -> Result<Received>
    where
        E: std::fmt::Display,
    {
        pin_mut!(bytes);
        let keep_short = intake.expected.keep_short;
        let mut receiver = Receiver::new(self, intake);
        while let Some(chunk) = bytes.next().await {
            match chunk {
                Ok(chunk) => receiver.take(chunk).await?,
                Err(_) if keep_short && receiver.size > 0 => break,
                Err(cause) => return Err(cut_short(&cause)),
            }
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
            named: None,
            state: None,
            sniffed: Sniffed::of(bytes),
        })
    }
}

/// A blob under way, to each of its places.
pub(crate) struct Writing {
    pub(crate) id: BlobId,
    pub(crate) claims: Claimed,
    pub(crate) copies: Vec<BlobWriter>,
}

/// Takes bytes in, run by run.
pub(crate) struct Receiver<'a> {
    store: &'a Store,
    intake: Intake<'a>,
    head: BytesMut,
    blob: Option<Writing>,
    /// The first bytes of what goes to the blob.
    first: FirstBytes,
    size: u64,
    /// How many bytes had come when it was last looked whether there is room.
    looked_at: u64,
}

impl<'a> Receiver<'a> {
    pub(crate) fn new(store: &'a Store, intake: Intake<'a>) -> Self {
        let (head, first) = (BytesMut::new(), FirstBytes::default());
        Self { store, intake, head, blob: None, first, size: 0, looked_at: 0 }
    }

    /// How many bytes have come.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    pub(crate) async fn take(&mut self, chunk: Bytes) -> Result<()> {
        self.size += chunk.len() as u64;
        self.check_size()?;
        if self.blob.is_none() && self.size <= self.intake.inline as u64 {
            self.head.extend_from_slice(&chunk);
            return Ok(());
        }
        self.check_room().await?;
        let head = std::mem::take(&mut self.head).freeze();
        let blob = self.blob.get_or_insert_with(|| self.intake.new_blob(self.store));
        for run in [head, chunk] {
            self.first.append(&run);
            let writes = blob.copies.iter_mut().map(|copy| copy.write(run.clone()));
            let written = try_join_all(writes).await;
            written.map_err(|error| self.store.failed_write(error))?;
        }
        Ok(())
    }

    /// Leaves the catalog its room, where contents are on the same disk: what could not be published is not taken in.
    async fn check_room(&mut self) -> Result<()> {
        if self.size < self.looked_at.saturating_add(LOOK) && self.blob.is_some() {
            return Ok(());
        }
        self.looked_at = self.size;
        self.store.require_room().await
    }

    fn check_size(&self) -> Result<()> {
        if self.intake.expected.length.is_some_and(|length| self.size > length) {
            return Err(mismatched("more bytes arrived than were announced"));
        }
        if self.size > self.store.parts().limits.content {
            return Err(Error::new(ErrorKind::TooLarge, "larger than a content may be"));
        }
        Ok(())
    }

    pub(crate) async fn finish(self) -> Result<Received> {
        let Intake { destination, expected, running, .. } = self.intake;
        let named = destination.named;
        let Some(Writing { id, claims, copies }) = self.blob else {
            let inline = self.store.receive_inline(&self.head, expected)?;
            let state = running.state_after(&self.head);
            return Ok(Received { named, state, ..inline });
        };
        if expected.is_short(self.size) {
            join_all(copies.into_iter().map(BlobWriter::abort)).await;
            claims.iter().for_each(Claim::settle);
            return Err(mismatched("fewer bytes arrived than were announced"));
        }
        let kept: Vec<_> = destination.ids().into_iter().map(BlobCopy::Kept).collect();
        let finished = self.store.finish_copies(copies).await;
        let blob = |size, digests, blocks| NewBlob {
            id,
            record: BlobRecord { size, digests, copies: kept, block: None },
            blocks,
            claims,
        };
        let written = match finished {
            Ok(written) => written,
            Err(error) => {
                self.store.discard(blob(self.size, Digests::default(), None)).await;
                return Err(error);
            }
        };
        let digests = Digests::from(&written.digests);
        let blob = blob(written.size, digests.clone(), Some(Arc::new(written.blocks)));
        if let Err(error) = expected.check(written.size, &written.digests) {
            self.store.discard(blob).await;
            return Err(error);
        }
        Ok(Received {
            content: Content { extents: extent(written.size, || Piece::Blob(written.id)) },
            size: written.size,
            digests,
            blob: Some(blob),
            named,
            state: running.is_wanted().then_some(written.state),
            sniffed: self.first.sniff(),
        })
    }
}

impl Store {
    /// Finishes all copies of a blob; if one fails, the others are not to stay.
    async fn finish_copies(&self, copies: Vec<BlobWriter>) -> Result<Written> {
        let finished = join_all(copies.into_iter().map(BlobWriter::finish)).await;
        let all: Result<Vec<Written>, _> = finished.into_iter().collect();
        match all {
            Ok(mut written) => Ok(written.swap_remove(0)),
            Err(error) => Err(self.failed_write(error)),
        }
    }

    /// Passes the outcome of a publication on. If that is sure to have failed, the blob that was to be
    /// published goes.
    pub(crate) async fn published<T>(
        &self,
        blob: Option<NewBlob>,
        outcome: Result<T>,
    ) -> Result<T> {
        self.settle_blob(blob, outcome.as_ref().err()).await;
        outcome
    }

    /// The same for a part of what was published.
    pub(crate) async fn settle_blob(&self, blob: Option<NewBlob>, fault: Option<&Error>) {
        match (blob, fault) {
            // A change set has it until its end.
            (Some(_), None) if self.is_within() => {}
            (Some(blob), None) => blob.settle(),
            (Some(blob), Some(error)) if error.kind() != ErrorKind::Unknown => {
                self.discard(blob).await;
            }
            _ => {}
        }
    }

    /// Deletes the blob of received bytes that were not used after all, unless the catalog knows it. Not for bytes
    /// of which it is unknown whether they were published: [`ErrorKind::Unknown`].
    pub async fn discard_unused(&self, blob: ReceivedBlob) {
        self.discard(blob.0).await;
    }

    /// Deletes a blob that nothing came to refer to. If that fails, the sweep finds it.
    pub(crate) async fn discard(&self, blob: NewBlob) {
        let ours = blob.record.copies.iter().filter(|copy| matches!(copy, BlobCopy::Kept(_)));
        for (copy, claim) in ours.zip(&blob.claims) {
            self.delete_claimed(blob.id, copy.place(), claim).await;
        }
    }
}

impl NewBlob {
    /// The catalog knows it.
    pub(crate) fn settle(&self) {
        self.claims.iter().for_each(Claim::settle);
    }
}

fn extent(length: u64, piece: impl FnOnce() -> Piece) -> Vec<Extent> {
    match length {
        0 => Vec::new(),
        _ => vec![Extent { offset: 0, length, start: 0, piece: piece() }],
    }
}

fn cut_short(cause: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Mismatch, format!("the bytes ended early: {cause}"))
        .with_hint("send it again; nothing was stored")
}
