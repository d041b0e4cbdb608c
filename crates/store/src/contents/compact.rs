//! Folding patches into extents.
//!
//! Neighbouring inline runs become one; a run that is too large for the catalog becomes a
//! blob. What is seen does not change, so neither does the revision.

use bytes::Bytes;
use futures_util::stream;

use crate::catalog::{ChangeKind, Reads, keys};
use crate::contents::{Expected, Received, refs, resolve, store_content};
use crate::model::{Content, ContentHead, ContentId, Extent, Piece, Resource, ResourceId};
use crate::tree::update;
use crate::{Error, Result, Store};

impl Store {
    /// Folds the patches of an object's content, unless somebody changes it meanwhile.
    pub(crate) async fn compact(&self, id: ResourceId) -> Result<()> {
        let Some((head, seen)) = self.blocking(move |store| store.patched(id)).await? else {
            return Ok(());
        };
        let mut pieces = Vec::new();
        for run in merge(seen) {
            pieces.push(self.settle(run).await?);
        }
        self.blocking(move |store| store.fold(id, &head, &pieces)).await
    }

    fn patched(&self, id: ResourceId) -> Result<Option<(ContentHead, Vec<Extent>)>> {
        let view = self.view()?;
        let resource = view.get::<Resource>(&keys::resource(id))?;
        match resource.and_then(|resource| resource.content) {
            Some(head) if head.patches > 0 => Ok(Some((head.clone(), resolve(&view, &head)?))),
            _ => Ok(None),
        }
    }

    /// Moves a run that is too large for the catalog to a blob.
    async fn settle(&self, run: Extent) -> Result<(Extent, Option<Received>)> {
        let Piece::Inline(bytes) = run.piece else { return Ok((run, None)) };
        let one = stream::iter([Ok::<_, Error>(Bytes::from(bytes))]);
        let received = self.receive(one, &Expected::default()).await?;
        let piece =
            received.content.extents.first().map_or(Piece::Hole, |first| first.piece.clone());
        Ok((Extent { piece, ..run }, Some(received)))
    }

    fn fold(
        &self,
        id: ResourceId,
        head: &ContentHead,
        pieces: &[(Extent, Option<Received>)],
    ) -> Result<()> {
        let extents: Vec<Extent> = pieces.iter().map(|(extent, _)| extent.clone()).collect();
        let blobs: Vec<_> = pieces.iter().filter_map(|(_, r)| r.as_ref()?.blob.clone()).collect();
        self.transact(|tx| {
            let Some(old) = tx.get::<Resource>(&keys::resource(id))? else { return Ok(()) };
            if old.content.as_ref() != Some(head) || refs::is_shared(tx, head.id)? {
                return Ok(());
            }
            let content = ContentId(self.new_id()?);
            let content_record = Content { extents: extents.clone() };
            store_content(tx, content, &content_record, &blobs);
            let head = ContentHead { id: content, patches: 0, ..head.clone() };
            let new = Resource { content: Some(head), ..old.clone() };
            update(tx, ChangeKind::Written, id, &old, &new);
            Ok(())
        })
    }
}

/// Joins neighbouring inline extents.
fn merge(seen: Vec<Extent>) -> Vec<Extent> {
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
