//! Parts become one content.
//!
//! Parts that are blobs stay where they are. Those that lie in the catalog are gathered, in the order of their
//! offsets: into one blob, or if they are few bytes together, into one run in the catalog. Invariant: memory does not
//! grow with their bytes.

use std::sync::Arc;

use bytes::Bytes;

use super::intake::{Intake, Running};
use super::receive::Receiver;
use super::{Expected, Received, overlay};
use crate::catalog::{PartRecord, Reads, View, keys};
use crate::model::{Content, ContentId, Extent, Piece, PlaceId};
use crate::{Error, Result, Store};

/// So many parts are read at a time.
const STEP: usize = 64;

/// What is seen of parts, and what was gathered for that, if anything was.
pub(super) struct Gathered {
    pub(super) extents: Vec<Extent>,
    pub(super) received: Option<Received>,
}

/// Extents under way. What is to be gathered is a hole that starts where its bytes will.
struct Gathering<'a> {
    store: &'a Store,
    place: Option<PlaceId>,
    expected: &'a Expected,
    extents: Vec<Extent>,
    receiver: Option<Receiver<'a>>,
}

impl Store {
    /// Gathers parts without a gap; where two overlap, the one that begins later counts. Bytes go to `place`.
    pub(super) async fn gather(
        &self,
        view: &Arc<View>,
        parts: &[(u64, PartRecord)],
        place: Option<PlaceId>,
    ) -> Result<Gathered> {
        let expected = Expected::default();
        let mut gathering = Gathering {
            store: self,
            place,
            expected: &expected,
            extents: Vec::with_capacity(parts.len()),
            receiver: None,
        };
        for step in parts.chunks(STEP) {
            let (view, ids) = (view.clone(), step.iter().map(|(_, part)| part.content));
            let ids: Vec<ContentId> = ids.collect();
            let contents = self.blocking(move |_| contents(&view, &ids)).await?;
            for ((offset, _), content) in step.iter().zip(contents) {
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
        Ok(Gathered { extents, received })
    }
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

/// Makes a hole what was gathered for it.
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
