//! Bytes in: a stream becomes a content that is durable but that nothing refers to yet.
//!
//! Small contents stay inline, so that many small files cost neither a file nor a sync
//! each; larger ones are written to a blob, of which each place of a group gets a copy as the bytes arrive. Memory is bounded
//! by the writers of the blob.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use cenote_blob::{BlobWriter, Written};
use futures_core::Stream;
use futures_util::future::{join_all, try_join_all};
use futures_util::{StreamExt, pin_mut};

use super::expected::{Expected, mismatched};
use super::intake::{Intake, Running};
use super::received::{Claimed, NewBlob, Received, extent};
use crate::catalog::{BlobCopy, BlobRecord};
use crate::contents::PutOptions;
use crate::contents::media_type::FirstBytes;
use crate::model::{Content, Digests, Piece, PlaceId};
use crate::places::{Claim, Destination};
use crate::{BlobId, Error, ErrorKind, Result, Store};

/// So many bytes are added between two looks at the disks.
pub(crate) const LOOK: u64 = 4 << 20;

/// How to take bytes in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReceiveOptions {
    /// The announcement of the sender.
    pub expected: Expected,
    /// The place to store them in, or a group, each place of which gets a copy; `None` for the default. In a place that is
    /// named, even small contents become blobs. It need not be given again when they are published.
    pub place: Option<PlaceId>,
}

impl From<&Expected> for ReceiveOptions {
    fn from(expected: &Expected) -> Self {
        Self { expected: expected.clone(), place: None }
    }
}

impl From<&PutOptions> for ReceiveOptions {
    fn from(put: &PutOptions) -> Self {
        Self { expected: put.expected.clone(), place: put.place }
    }
}

impl Store {
    /// Receives a stream, after it was verified that the caller may write ([`Store::precheck_put`]).
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for a place that is not there; [`ErrorKind::Unavailable`] if nothing in it takes
    /// contents, or one that does fails: then none of them keeps the bytes.
    pub async fn receive<E>(
        &self,
        bytes: impl Stream<Item = Result<Bytes, E>>,
        options: impl Into<ReceiveOptions>,
    ) -> Result<Received>
    where
        E: std::fmt::Display,
    {
        let ReceiveOptions { expected, place } = options.into();
        let destination = self.known().destination(place)?;
        let inline = self.inline_in(&destination);
        let intake = Intake { destination, expected: &expected, inline, running: Running::No };
        intake.receive(self, bytes).await
    }

    /// How many bytes may stay in the catalog: none of those that were sent to a place by its name.
    pub(crate) fn inline_in(&self, destination: &Destination) -> usize {
        if destination.named.is_some() { 0 } else { self.parts().limits.inline }
    }
}

impl Intake<'_> {
    /// Takes a stream in.
    pub(crate) async fn receive<E>(
        self,
        store: &Store,
        bytes: impl Stream<Item = Result<Bytes, E>>,
    ) -> Result<Received>
    where
        E: std::fmt::Display,
    {
        pin_mut!(bytes);
        let keep_short = self.expected.keep_short;
        let mut receiver = Receiver::new(store, self);
        while let Some(chunk) = bytes.next().await {
            match chunk {
                Ok(chunk) => receiver.take(chunk).await?,
                Err(_) if keep_short && receiver.size > 0 => break,
                Err(cause) => return Err(cut_short(&cause)),
            }
        }
        receiver.finish().await
    }
}

/// A blob being written, to each of its places.
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
    /// The first bytes of the data for the blob.
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
            let inline = Received::inline(&self.head, expected)?;
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
            state: written.state.filter(|_| running.is_wanted()),
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
}

fn cut_short(cause: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Mismatch, format!("the bytes ended early: {cause}"))
        .with_hint("send it again; nothing was stored")
}
