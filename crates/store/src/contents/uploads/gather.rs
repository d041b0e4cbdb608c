//! Parts become one content.
//!
//! Parts that are blobs are not moved. Those in the catalog are gathered, in the order of their
//! offsets: into one blob, or if they are few bytes together, into one run in the catalog. Invariant: memory does not
//! grow with their bytes.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt;

use crate::catalog::{PartRecord, Reads, UploadRecord, View, keys};
use crate::contents::incoming::intake::{Intake, Running};
use crate::contents::incoming::receive::Receiver;
use crate::contents::media_type::{FirstBytes, Sniffed};
use crate::contents::{Expected, Received, overlay};
use crate::model::{Content, ContentId, Extent, Piece, PlaceId};
use crate::{Error, Result, Store};

/// So many parts are read at a time.
const STEP: usize = 64;

/// The visible content of parts, and what was gathered for it, if anything.
pub(crate) struct Gathered {
    pub(crate) extents: Vec<Extent>,
    pub(crate) received: Option<Received>,
    /// The media type according to the first bytes of the whole.
    pub(crate) sniffed: Sniffed,
}

/// Extents that are being built. Bytes that are to be gathered are a hole that starts at their future position.
struct Gathering<'a> {
    store: &'a Store,
    place: Option<PlaceId>,
    expected: &'a Expected,
    extents: Vec<Extent>,
    receiver: Option<Receiver<'a>>,
    /// The first bytes of the whole, unless the media type is set.
    first: FirstBytes,
    is_said: bool,
}

impl Store {
    /// Gathers parts without a gap; where two overlap, the one that begins later counts.
    pub(crate) async fn gather(
        &self,
        view: &Arc<View>,
        parts: &[(u64, PartRecord)],
        record: &UploadRecord,
    ) -> Result<Gathered> {
        let expected = Expected::default();
        let mut gathering = Gathering {
            store: self,
            place: record.place,
            expected: &expected,
            extents: Vec::with_capacity(parts.len()),
            receiver: None,
            first: FirstBytes::default(),
            is_said: record.media_type.is_some(),
        };
        for step in parts.chunks(STEP) {
            let (read, ids) = (view.clone(), step.iter().map(|(_, part)| part.content));
            let ids: Vec<ContentId> = ids.collect();
            let contents = self.blocking(move |_| contents(&read, &ids)).await?;
            for ((offset, part), content) in step.iter().zip(contents) {
                gathering.look_at(view, *offset, (part.content, &content)).await;
                gathering.take(*offset, content).await?;
            }
        }
        gathering.finish().await
    }
}

fn contents(view: &View, ids: &[ContentId]) -> Result<Vec<Content>> {
    let content = |id: &ContentId| {
        let content = view.get::<Content>(&keys::content(*id))?;
        content.ok_or_else(|| Error::damaged("a part has no content"))
    };
    ids.iter().map(content).collect()
}

impl<'a> Gathering<'a> {
    /// Notes what a part has of the first bytes of the whole, laid over those of the parts that begin before. What cannot
    /// be read is not looked at: only a guess depends on it.
    async fn look_at(&mut self, view: &View, offset: u64, (id, content): (ContentId, &Content)) {
        let Some(room) = FirstBytes::room_from(offset).filter(|_| !self.is_said) else { return };
        if let [Extent { offset: 0, start: 0, piece: Piece::Inline(bytes), .. }] =
            &content.extents[..]
        {
            return self.first.lay(offset, bytes);
        }
        match start_of(self.store, view, (id, content), room as u64).await {
            Ok(start) => self.first.lay(offset, &start),
            Err(error) => tracing::warn!(%id, %error, "could not read the start of a part"),
        }
    }

    async fn take(&mut self, offset: u64, content: Content) -> Result<()> {
        for extent in content.extents {
            let extent = Extent { offset: extent.offset + offset, ..extent };
            let extent = match extent.piece {
                Piece::Inline(bytes) => {
                    let receiver = self.receiver()?;
                    let start = receiver.size();
                    receiver.take(Bytes::from(bytes)).await?;
                    Extent { start: start + extent.start, piece: Piece::Hole, ..extent }
                }
                _ => extent,
            };
            self.extents.push(extent);
        }
        Ok(())
    }

    fn receiver(&mut self) -> Result<&mut Receiver<'a>> {
        let begun = match self.receiver.take() {
            Some(receiver) => receiver,
            None => {
                let destination = self.store.known().destination(self.place)?;
                let inline = self.store.inline_in(&destination);
                let (expected, running) = (self.expected, Running::No);
                Receiver::new(self.store, Intake { destination, expected, inline, running })
            }
        };
        Ok(self.receiver.insert(begun))
    }

    async fn finish(self) -> Result<Gathered> {
        let received = match self.receiver {
            Some(receiver) => Some(receiver.finish().await?),
            None => None,
        };
        let mut extents = joined(seen(self.extents));
        if let Some(Extent { piece, .. }) =
            received.as_ref().and_then(|received| received.content.extents.first())
        {
            extents.iter_mut().for_each(|extent| fill(extent, piece));
        }
        Ok(Gathered { extents, received, sniffed: self.first.sniff() })
    }
}

async fn start_of(
    store: &Store,
    view: &View,
    (id, content): (ContentId, &Content),
    most: u64,
) -> Result<Vec<u8>> {
    let size = content.extents.last().map_or(0, Extent::end);
    let pins = store.pin(view, id)?.into_iter().collect();
    let layout = store.lay_out_extents(content.extents.clone(), size, pins);
    let chunks: Vec<Bytes> = layout.bytes(0..size.min(most)).try_collect().await?;
    Ok(chunks.concat())
}

/// The extents without those that others were laid over.
fn seen(extents: Vec<Extent>) -> Vec<Extent> {
    let overlap = extents.windows(2).any(|pair| pair[0].end() > pair[1].offset);
    let size = extents.iter().map(Extent::end).max().unwrap_or(0);
    if overlap { overlay(Vec::new(), extents, size) } else { extents }
}

/// Joins neighbours whose bytes will be neighbours, too.
fn joined(extents: Vec<Extent>) -> Vec<Extent> {
    let mut joined: Vec<Extent> = Vec::with_capacity(extents.len());
    for extent in extents {
        match joined.last_mut() {
            Some(before)
                if (&before.piece, &extent.piece) == (&Piece::Hole, &Piece::Hole)
                    && before.start + before.length == extent.start =>
            {
                before.length += extent.length;
            }
            _ => joined.push(extent),
        }
    }
    joined.shrink_to_fit();
    joined
}

/// Replaces a hole with the bytes gathered for it.
fn fill(extent: &mut Extent, gathered: &Piece) {
    if extent.piece != Piece::Hole {
        return;
    }
    extent.piece = match gathered {
        Piece::Inline(bytes) => {
            let start = std::mem::take(&mut extent.start) as usize;
            Piece::Inline(bytes[start..start + extent.length as usize].to_vec())
        }
        piece => piece.clone(),
    };
}
