//! Digests of contents whose bytes did not come in order.

use cenote_blob::{Hasher, Place};
use futures_util::StreamExt;

use super::read::extent_stream;
use crate::catalog::{Reads, keys};
use crate::contents::resolve;
use crate::model::{ContentHead, Digests, Extent, Resource, ResourceId};
use crate::tree::restate;
use crate::{BlobId, Result, Store};

impl Store {
    /// Reads a content whose SHA-256 is not known, and notes it, unless the content changes meanwhile.
    pub async fn compute_digest(&self, id: ResourceId) -> Result<()> {
        let Some((head, extents, places)) =
            self.blocking(move |store| store.undigested(id)).await?
        else {
            return Ok(());
        };
        let digests = digest_of(extents, head.size, places).await?;
        self.blocking(move |store| store.note_digest(id, &head, &digests)).await
    }

    #[expect(clippy::type_complexity, reason = "what one read of the catalog gives")]
    fn undigested(
        &self,
        id: ResourceId,
    ) -> Result<Option<(ContentHead, Vec<Extent>, Vec<(BlobId, Vec<Place>)>)>> {
        let view = self.view()?;
        let resource = view.get::<Resource>(&keys::resource(id))?;
        let head = resource.and_then(|r| r.content).filter(|head| head.digests.sha256.is_none());
        let Some(head) = head else { return Ok(None) };
        let extents = resolve(&view, &head)?;
        let places = self.places_of(&view, &extents)?;
        Ok(Some((head, extents, places)))
    }

    fn note_digest(&self, id: ResourceId, head: &ContentHead, digests: &Digests) -> Result<()> {
        self.transact(|tx| {
            let old = tx.get::<Resource>(&keys::resource(id))?;
            let Some(old) = old.filter(|old| old.content.as_ref() == Some(head)) else {
                return Ok(());
            };
            let content = ContentHead { digests: digests.clone(), ..head.clone() };
            let new = Resource { content: Some(content), ..old.clone() };
            restate(tx, id, &old, &new);
            Ok(())
        })
    }
}

/// The SHA-256 of what extents hold.
pub(super) async fn digest_of(
    extents: Vec<Extent>,
    size: u64,
    places: Vec<(BlobId, Vec<Place>)>,
) -> Result<Digests> {
    let mut stream = extent_stream(extents, 0..size, places);
    let mut hasher = Hasher::default();
    while let Some(chunk) = stream.next().await {
        hasher.update(&chunk?);
    }
    Ok(Digests::from(&hasher.finish()))
}
