//! Digests of contents whose bytes did not come in order.

use super::layout::Layout;
use crate::catalog::{Reads, keys};
use crate::model::{ContentHead, Digests, Resource, ResourceId};
use crate::tree::restate;
use crate::{Result, Store};

impl Store {
    /// Reads a content whose SHA-256 is not known, and notes it, unless the content changes meanwhile.
    pub async fn compute_digest(&self, id: ResourceId) -> Result<()> {
        let found = self.blocking(move |store| store.undigested(id)).await?;
        let Some((head, layout)) = found else { return Ok(()) };
        let digests = layout.digests().await?;
        self.blocking(move |store| store.note_digest(id, &head, &digests)).await
    }

    fn undigested(&self, id: ResourceId) -> Result<Option<(ContentHead, Layout)>> {
        let view = self.view()?;
        let resource = view.get::<Resource>(&keys::resource(id))?;
        let head = resource.and_then(|r| r.content).filter(|head| head.digests.sha256.is_none());
        let Some(head) = head else { return Ok(None) };
        let layout = self.lay_out(&view, &head)?;
        Ok(Some((head, layout)))
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
