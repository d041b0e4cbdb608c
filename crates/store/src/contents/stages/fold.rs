//! Folding the patches of a stage into its extents, as those of an object are.

use super::{restage, stage, stage_to_write};
use crate::catalog::{Reads, Transaction, UploadRecord, keys};
use crate::contents::layout::Layout;
use crate::contents::patches::compact::merge;
use crate::contents::{NewBlob, UploadId, resolve, store_content};
use crate::model::{Content, ContentHead, ContentId};
use crate::places::Destination;
use crate::{Caller, Result, Store};

/// A stage with patches.
struct Patched {
    record: UploadRecord,
    layout: Layout,
    to: Destination,
}

impl Store {
    /// Folds the patches of a stage. If that fails, the next write tries again: the written bytes are stored nevertheless.
    pub(super) async fn try_to_fold(&self, caller: &Caller, upload: UploadId) {
        match self.fold_stage(caller, upload).await {
            Err(error) if !error.is_refusal() => {
                tracing::warn!(upload = upload.number, %error, "could not fold patches of a stage");
            }
            _ => {}
        }
    }

    async fn fold_stage(&self, caller: &Caller, upload: UploadId) -> Result<()> {
        let caller = caller.clone();
        let patched = self.blocking(move |store| store.patched_stage(&caller, upload)).await?;
        let Some(Patched { record, layout, to }) = patched else { return Ok(()) };
        let (content, blob) = self.folded(layout, to).await?;
        let new = blob.clone();
        let folded = self
            .blocking(move |store| {
                store.transact(|tx| store.replace_folded(tx, upload, &record, (&content, &blob)))
            })
            .await;
        if let (false, Some(unused)) = (self.published(new.clone(), folded).await?, new) {
            self.discard(unused).await;
        }
        Ok(())
    }

    fn patched_stage(&self, caller: &Caller, upload: UploadId) -> Result<Option<Patched>> {
        let view = self.view()?;
        let (record, there) = stage_to_write(&view, caller, upload)?;
        let head = stage(&record)?.clone();
        if head.patches == 0 {
            return Ok(None);
        }
        let Some(pin) = self.pin(&view, head.id)? else { return Ok(None) };
        let extents = merge(resolve(&view, &head)?);
        let layout = self.lay_out_extents(extents, head.size, vec![pin]);
        let to = self.stage_destination(&record, there.as_ref())?;
        Ok(Some(Patched { record, layout, to }))
    }

    /// Returns whether it was unchanged in the meantime.
    fn replace_folded(
        &self,
        tx: &mut Transaction,
        upload: UploadId,
        old: &UploadRecord,
        (content, blob): (&Content, &Option<NewBlob>),
    ) -> Result<bool> {
        let there = tx.get::<UploadRecord>(&keys::upload(upload.number))?;
        let (Some(record), Some(head)) = (there.filter(|there| there == old), &old.stage) else {
            return Ok(false);
        };
        let id = ContentId(self.new_id()?);
        store_content(tx, id, content, blob.as_ref())?;
        let folded = ContentHead { id, patches: 0, ..head.clone() };
        restage(tx, upload, record, folded);
        Ok(true)
    }
}
