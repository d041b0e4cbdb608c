//! Digests of contents whose bytes did not come in order.
//!
//! Invariant: a digest is that of the bytes that were received. If a disk has corrupted them since, that is reported as damage, and is not
//! given a digest of its own.

use cenote_blob::{Algorithm, Hasher};

use crate::catalog::{Reads, keys};
use crate::contents::layout::Layout;
use crate::contents::{blob_ids, resolve};
use crate::model::{ContentHead, Digests, Resource, ResourceId};
use crate::resources::rewrite_record;
use crate::{Error, Result, Store};

impl Store {
    /// Reads a content whose SHA-256 is not known, and records it, unless the content changes in the meantime. Of one with
    /// holes too large to be hashed the CRC-64/NVME alone is noted.
    pub async fn compute_digest(&self, id: ResourceId) -> Result<()> {
        self.compute(id, &[], |head| head.digests.sha256.is_none()).await
    }

    /// The same for a content of which the digest by `algorithm` is not known.
    pub async fn compute_digest_by(&self, id: ResourceId, algorithm: Algorithm) -> Result<()> {
        let unknown = move |head: &ContentHead| head.digests.get(algorithm).is_none();
        self.compute(id, &[algorithm], unknown).await
    }

    async fn compute(
        &self,
        id: ResourceId,
        also: &[Algorithm],
        wanted: impl Fn(&ContentHead) -> bool + Send + 'static,
    ) -> Result<()> {
        let found = self.blocking(move |store| store.undigested(id, wanted)).await?;
        let Some((head, layout)) = found else { return Ok(()) };
        let digests = digests_of(&head, layout, also).await?.and(&head.digests);
        self.blocking(move |store| store.note_digest(id, &head, &digests)).await
    }

    /// The same, then the checksums of its blobs' blocks that are not known, while the bytes are in the machine's cache.
    pub(crate) async fn digest_and_sum(&self, id: ResourceId) -> Result<()> {
        self.compute_digest(id).await?;
        self.sum_blocks(id).await
    }

    /// Computes the unknown checksums of blocks of the blobs of a content: those of registered
    /// files.
    async fn sum_blocks(&self, id: ResourceId) -> Result<()> {
        let extents = self.blocking(move |store| {
            let view = store.view()?;
            let head = view.get::<Resource>(&keys::resource(id))?.and_then(|r| r.content);
            head.map_or(Ok(Vec::new()), |head| resolve(&view, &head))
        });
        for blob in blob_ids(&extents.await?) {
            self.sum_blob(blob).await?;
        }
        Ok(())
    }

    fn undigested(
        &self,
        id: ResourceId,
        wanted: impl Fn(&ContentHead) -> bool,
    ) -> Result<Option<(ContentHead, Layout)>> {
        let view = self.view()?;
        let resource = view.get::<Resource>(&keys::resource(id))?;
        let head = resource.and_then(|r| r.content).filter(wanted);
        let Some(head) = head else { return Ok(None) };
        let layout = self.lay_out(&view, &head)?.map(Layout::in_turns);
        let is_done = |layout: &Layout| head.digests.crc64nvme.is_some() && layout.has_vast_holes();
        let layout = layout.filter(|layout| !is_done(layout));
        Ok(layout.map(|layout| (head, layout)))
    }

    fn note_digest(&self, id: ResourceId, head: &ContentHead, digests: &Digests) -> Result<()> {
        self.transact(|tx| {
            let old = tx.get::<Resource>(&keys::resource(id))?;
            let Some(old) = old.filter(|old| old.content.as_ref() == Some(head)) else {
                return Ok(());
            };
            let digests = digests.clone();
            let content = ContentHead { digests, digested_later: true, ..head.clone() };
            let new = Resource { content: Some(content), ..old.clone() };
            rewrite_record(tx, id, &old, &new);
            Ok(())
        })
    }
}

/// The digests of a content, and these in addition: matching its known CRC, or else read from blobs that match theirs.
async fn digests_of(head: &ContentHead, mut layout: Layout, also: &[Algorithm]) -> Result<Digests> {
    let hasher = || Hasher::new(also.iter().copied());
    if head.digests.crc64nvme.is_some() {
        let digests = layout.clone().digests_by(hasher()).await?;
        if !digests.contradict(&head.digests) {
            return Ok(digests);
        }
    }
    layout.verify().await?;
    let digests = layout.digests_by(hasher()).await?;
    match digests.contradict(&head.digests) {
        false => Ok(digests),
        true => Err(Error::damaged(format!(
            "the bytes of content {} are not those that were received",
            head.id
        ))),
    }
}
