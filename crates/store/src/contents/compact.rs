//! Folding patches into extents.
//!
//! Neighbouring inline runs become one; more inline bytes than the catalog should hold of one
//! content become a blob. What is seen does not change, so neither do tags and revision.

use bytes::Bytes;
use futures_util::stream;

use crate::catalog::{BlobRecord, Reads, keys};
use crate::contents::{Expected, refs, resolve, store_content};
use crate::model::{Content, ContentHead, ContentId, Extent, Piece, Resource, ResourceId};
use crate::places::Destination;
use crate::tree::restate;
use crate::{BlobId, Error, Result, Store};

/// A blob that was written to fold into.
pub(super) type NewBlob = Option<(BlobId, BlobRecord)>;

impl Store {
    /// Folds the patches of an object's content, unless somebody changes it meanwhile.
    pub(crate) async fn compact(&self, id: ResourceId) -> Result<()> {
        let Some((head, seen, to)) = self.blocking(move |store| store.patched(id)).await? else {
            return Ok(());
        };
        let most = self.parts().limits.inline;
        let (content, blob) = self.settle(merge(seen), to, most).await?;
        let new = blob.as_ref().map(|(blob, record)| (*blob, record.copies.clone()));
        let folded = self.blocking(move |store| store.fold(id, &head, &content, &blob)).await;
        if let (false, Some(unused)) = (self.published(new.clone(), folded).await?, new) {
            self.discard(unused).await;
        }
        Ok(())
    }

    /// The content, what is seen of it, and where it belongs.
    fn patched(&self, id: ResourceId) -> Result<Option<(ContentHead, Vec<Extent>, Destination)>> {
        let view = self.view()?;
        let Some(resource) = view.get::<Resource>(&keys::resource(id))? else { return Ok(None) };
        let Some(head) = resource.content.filter(|head| head.patches > 0) else { return Ok(None) };
        let good = resource.replicas.iter().filter(|replica| replica.is_good());
        let places: Vec<_> = good.map(|replica| replica.place).collect();
        let places = (!places.is_empty()).then_some(&places[..]);
        let seen = resolve(&view, &head)?;
        Ok(Some((head, seen, self.known().destination_among(places)?)))
    }

    /// Moves the inline runs to one blob, if they have more than `most` bytes.
    pub(super) async fn settle(
        &self,
        mut extents: Vec<Extent>,
        to: Destination,
        most: usize,
    ) -> Result<(Content, NewBlob)> {
        let runs = inline_runs(&extents);
        if runs.iter().map(|(bytes, _)| bytes.len()).sum::<usize>() <= most {
            return Ok((Content { extents }, None));
        }
        let bytes: Vec<_> = runs.iter().map(|(bytes, _)| Ok::<_, Error>(bytes.clone())).collect();
        let received = self.receive_into(to, 0, stream::iter(bytes), &Expected::default()).await?;
        if let Some((blob, _)) = &received.blob {
            let mut start = 0;
            for (bytes, at) in runs {
                (extents[at].start, extents[at].piece) = (start, Piece::Blob(*blob));
                start += bytes.len() as u64;
            }
        }
        Ok((Content { extents }, received.blob))
    }

    /// Says whether it did.
    fn fold(
        &self,
        id: ResourceId,
        head: &ContentHead,
        content: &Content,
        blob: &NewBlob,
    ) -> Result<bool> {
        self.transact(|tx| {
            let Some(old) = tx.get::<Resource>(&keys::resource(id))? else { return Ok(false) };
            if old.content.as_ref() != Some(head) || refs::is_shared(tx, head.id)? {
                return Ok(false);
            }
            let folded = ContentId(self.new_id()?);
            store_content(tx, folded, content, blob.as_slice())?;
            let head = ContentHead { id: folded, patches: 0, ..head.clone() };
            restate(tx, id, &old, &Resource { content: Some(head), ..old.clone() });
            Ok(true)
        })
    }
}

/// Joins neighbouring inline extents.
pub(super) fn merge(seen: Vec<Extent>) -> Vec<Extent> {
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

/// The inline bytes of extents, each with the index of its extent.
fn inline_runs(extents: &[Extent]) -> Vec<(Bytes, usize)> {
    let runs = extents.iter().enumerate().filter_map(|(at, extent)| match &extent.piece {
        Piece::Inline(bytes) => Some((Bytes::copy_from_slice(bytes), at)),
        _ => None,
    });
    runs.collect()
}
