//! Folding patches into extents.
//!
//! Neighbouring inline runs become one; more inline bytes than the catalog should hold of one
//! content become a blob, with small blobs before them. The visible content does not change, so neither do tags and revision.

use std::ops::Range;

use crate::catalog::{Reads, keys};
use crate::contents::incoming::intake::{Intake, Running};
use crate::contents::layout::Layout;
use crate::contents::patches::runs::{Part, PartKind, runs};
use crate::contents::{Expected, NewBlob, refs, resolve, store_content};
use crate::model::{
    Content, ContentHead, ContentId, Extent, Piece, PlaceId, Placement, Resource, ResourceId,
};
use crate::places::Destination;
use crate::resources::rewrite_record;
use crate::{BlobId, Result, Store};

/// A content with patches, and where it belongs.
struct Patched {
    head: ContentHead,
    layout: Layout,
    to: Destination,
}

impl Store {
    /// Folds the patches of an object's content, unless it is changed concurrently.
    pub(crate) async fn compact(&self, id: ResourceId) -> Result<()> {
        let Some(Patched { head, layout, to }) =
            self.blocking(move |store| store.patched(id)).await?
        else {
            return Ok(());
        };
        let (content, blob) = self.folded(layout, to).await?;
        let new = blob.clone();
        let folded = self.blocking(move |store| store.fold(id, &head, &content, &blob)).await;
        if let (false, Some(unused)) = (self.published(new.clone(), folded).await?, new) {
            self.discard(unused).await;
        }
        Ok(())
    }

    fn patched(&self, id: ResourceId) -> Result<Option<Patched>> {
        let view = self.view()?;
        let Some(resource) = view.get::<Resource>(&keys::resource(id))? else { return Ok(None) };
        let Some(head) = resource.content.filter(|head| head.patches > 0) else { return Ok(None) };
        let Some(to) = self.fold_destination(&resource.placement)? else { return Ok(None) };
        let Some(pin) = self.pin(&view, head.id)? else { return Ok(None) };
        let extents = merge(resolve(&view, &head)?);
        let layout = self.lay_out_extents(extents, head.size, vec![pin]);
        Ok(Some(Patched { head, layout, to }))
    }

    /// Where folded bytes are stored: in each place with a good replica. None if one of these was closed since the last write, which
    /// leaves the replicas in closed places stale: its replica would not have them.
    fn fold_destination(&self, placement: &Placement) -> Result<Option<Destination>> {
        let known = self.known();
        if let Some(place) = placement.by_default() {
            return known.destination_at(place).map(Some);
        }
        let places: Vec<PlaceId> = placement.good_places().collect();
        let open = !places.is_empty() && places.iter().all(|place| known.is_up(*place));
        open.then(|| known.destination_among(&places)).transpose()
    }

    /// The visible content, with the inline runs in a blob if there are more bytes of them than the catalog should hold, and
    /// small blobs merged, unless they cannot be read.
    pub(in crate::contents) async fn folded(
        &self,
        layout: Layout,
        to: Destination,
    ) -> Result<(Content, Option<NewBlob>)> {
        let most = self.parts().limits.inline as u64;
        let mut parts = layout.parts()?;
        let inline = parts.iter_mut().filter(|part| part.kind == PartKind::Inline);
        let inline: Vec<&mut Part> = inline.collect();
        let stays = inline.iter().map(|part| part.length).sum::<u64>() <= most;
        if stays {
            inline.into_iter().for_each(|part| part.kind = PartKind::Other);
        }
        match self.rewrite(layout.clone(), runs(&parts), to.clone()).await {
            Err(_) if stays => Ok((Content { extents: layout.into_extents() }, None)),
            Err(_) => self.settle(layout, to).await,
            rewritten => rewritten,
        }
    }

    /// Moves the inline runs to one blob.
    pub(crate) async fn settle(
        &self,
        layout: Layout,
        to: Destination,
    ) -> Result<(Content, Option<NewBlob>)> {
        self.settle_some(layout, to, |extent| matches!(extent.piece, Piece::Inline(_))).await
    }

    /// Moves these extents to one blob.
    pub(crate) async fn settle_some(
        &self,
        layout: Layout,
        to: Destination,
        moves: impl Fn(&Extent) -> bool,
    ) -> Result<(Content, Option<NewBlob>)> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (at, _) in layout.extents().iter().enumerate().filter(|(_, extent)| moves(extent)) {
            match runs.last_mut().filter(|run| run.end == at) {
                Some(run) => run.end = at + 1,
                None => runs.push(at..at + 1),
            }
        }
        self.rewrite(layout, runs, to).await
    }

    /// Writes runs of neighbouring extents to one blob, where each becomes one extent.
    async fn rewrite(
        &self,
        mut layout: Layout,
        runs: Vec<Range<usize>>,
        to: Destination,
    ) -> Result<(Content, Option<NewBlob>)> {
        let extents = layout.clone().into_extents();
        if runs.is_empty() {
            return Ok((Content { extents }, None));
        }
        // Damaged bytes must never get a matching digest.
        layout.verify_runs(&runs).await?;
        let bytes = layout.bytes_of(&runs);
        let expected = &Expected::default();
        let intake = Intake { destination: to, expected, inline: 0, running: Running::No };
        let received = intake.receive(self, bytes).await?;
        let extents = match &received.blob {
            Some(blob) => moved(extents, &runs, blob.id),
            None => extents,
        };
        Ok((Content { extents }, received.blob))
    }

    /// Says whether it did.
    fn fold(
        &self,
        id: ResourceId,
        head: &ContentHead,
        content: &Content,
        blob: &Option<NewBlob>,
    ) -> Result<bool> {
        self.transact(|tx| {
            let Some(old) = tx.get::<Resource>(&keys::resource(id))? else { return Ok(false) };
            if old.content.as_ref() != Some(head) || refs::is_shared(tx, head.id)? {
                return Ok(false);
            }
            let Some(placement) = self.placement_after_fold(&old.placement, blob.as_ref()) else {
                return Ok(false);
            };
            let folded = ContentId(self.new_id()?);
            store_content(tx, folded, content, blob.as_ref())?;
            let head = ContentHead { id: folded, patches: 0, ..head.clone() };
            let new = Resource { content: Some(head), placement, ..old.clone() };
            rewrite_record(tx, id, &old, &new);
            Ok(true)
        })
    }

    /// None if the object was replicated or moved since the blob was sent, so that a good replica would not have it.
    fn placement_after_fold(&self, old: &Placement, blob: Option<&NewBlob>) -> Option<Placement> {
        let Some(NewBlob { record, .. }) = blob else { return Some(old.clone()) };
        let is_there = |place: PlaceId| record.copy_in(place).is_some();
        match old.by_default() {
            Some(place) if !is_there(place) => {
                let is_closed = !self.known().is_up(place);
                is_closed.then(|| Placement::ByDefault(record.place()))
            }
            _ => old.good_places().all(is_there).then(|| old.clone()),
        }
    }
}

/// Joins neighbouring inline extents.
pub(crate) fn merge(seen: Vec<Extent>) -> Vec<Extent> {
    let mut merged: Vec<Extent> = Vec::with_capacity(seen.len());
    for extent in seen {
        match (merged.last_mut(), &extent) {
            (
                Some(Extent { length, start: 0, piece: Piece::Inline(run), .. }),
                Extent { start: 0, piece: Piece::Inline(bytes), .. },
            ) => {
                run.extend_from_slice(bytes);
                *length += extent.length;
            }
            _ => merged.push(extent),
        }
    }
    merged
}

/// The bytes that neighbouring extents cover.
fn bytes_of(extents: &[Extent]) -> Range<u64> {
    let start = extents.first().map_or(0, |extent| extent.offset);
    start..extents.last().map_or(start, Extent::end)
}

/// The extents, with each run as one in `blob`, after the run before it.
fn moved(mut extents: Vec<Extent>, runs: &[Range<usize>], blob: BlobId) -> Vec<Extent> {
    let ranges = runs.iter().map(|run| bytes_of(&extents[run.clone()]));
    let ranges: Vec<Range<u64>> = ranges.collect();
    let mut start: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    for (run, range) in runs.iter().zip(&ranges).rev() {
        let length = range.end - range.start;
        start -= length;
        let piece = Piece::Blob(blob);
        let one = Extent { offset: range.start, length, start, piece };
        extents.splice(run.clone(), [one]);
    }
    extents
}
