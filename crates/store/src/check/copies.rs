//! Blobs in their places: every copy there, whole, and nothing else. A place that cannot be reached is reported once, and
//! does not end the check.

use std::time::Duration;

use bytes::Bytes;
use cenote_blob::{Blocks, Error as BlobError, Place};
use futures_util::StreamExt;

use super::bytes::Bytewise;
use super::{Finding, FindingKind as Kind};
use crate::catalog::{BlobCopy, BlobRecord, Reads, Record, keys};
use crate::contents::{Mended, all_blocks, is_loss};
use crate::model::{Digests, PlaceId, PlaceKind};
use crate::places::Source;
use crate::{BlobId, Result};

/// A blob without a record is considered a write in progress until it is this old.
const YOUNG: Duration = Duration::from_secs(24 * 3_600);

type Fault = Option<(Kind, String)>;

impl Bytewise<'_> {
    /// Reports places that cannot be used.
    pub(super) async fn places(&self) -> Result<()> {
        let known = self.store.known();
        for (id, info) in known.iter().filter(|(_, info)| info.kind != PlaceKind::Group) {
            if let Err(error) = known.open(id) {
                let detail = format!("{error}; its copies are not checked");
                self.report(Finding::new(Kind::UnreachablePlace, &info.name, detail)).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn blob(&self, key: &Bytes, value: &Bytes) -> Result<()> {
        let (Some(id), Ok(record)) = (keys::blob_id(key), BlobRecord::from_value(value)) else {
            return Ok(());
        };
        if record.copies.is_empty() && self.is_still(key, value).await? {
            return self.report(Finding::new(Kind::MissingBlob, id, "it has no copy")).await;
        }
        let (mut whole, mut reported) = (None, false);
        for copy in &record.copies {
            if let Some((kind, detail)) = self.copy(copy, id, &record, &mut whole).await?
                && self.is_still(key, value).await?
                && !self.is_garbage(id).await?
            {
                let mut finding = Finding::new(kind, id, detail);
                finding.repaired = self.mend(copy, id).await;
                self.report(finding).await?;
                reported = true;
            }
        }
        if reported && whole.is_none() {
            return Ok(());
        }
        match self.checksums(id, &record, whole.as_ref()).await? {
            Some(finding) if self.is_still(key, value).await? => self.report(finding).await,
            _ => Ok(()),
        }
    }

    /// Compares the checksums of a blob's blocks with those of a copy that is whole, if one was read.
    async fn checksums(
        &self,
        id: BlobId,
        record: &BlobRecord,
        whole: Option<&(Digests, Blocks)>,
    ) -> Result<Option<Finding>> {
        let owned_record = record.clone();
        let kept =
            self.store.blocking(move |store| all_blocks(&store.view()?, id, &owned_record)).await;
        let detail = match (kept, whole) {
            (Err(error), _) => error.to_string(),
            (Ok(Some(kept)), Some((_, right))) if kept != *right => {
                "the checksums of its blocks do not match its bytes".to_owned()
            }
            _ => return Ok(None),
        };
        let mut finding = Finding::new(Kind::Checksums, id, detail);
        if let (true, Some((digests, blocks))) = (self.options.repair, whole) {
            finding.repaired = self.store.note_blocks(id, digests, blocks).await?;
        }
        Ok(Some(finding))
    }

    /// A blob that was swept in the meantime is no loss.
    async fn is_still(&self, key: &Bytes, value: &Bytes) -> Result<bool> {
        let (key, value) = (key.clone(), value.clone());
        self.store.blocking(move |store| Ok(store.view()?.value(&key)? == Some(value))).await
    }

    /// Whether all contents of a blob wait to be swept: its bytes are no loss any more.
    async fn is_garbage(&self, blob: BlobId) -> Result<bool> {
        self.store.blocking(move |store| is_garbage(&store.view()?, blob)).await
    }

    /// Overwrites it with a good copy, if requested and if there is one.
    async fn mend(&self, copy: &BlobCopy, id: BlobId) -> bool {
        match copy {
            BlobCopy::Kept(place) if self.options.repair => {
                matches!(self.store.mend(id, *place).await, Ok(Mended::Done))
            }
            _ => false,
        }
    }

    /// What is wrong with a copy. An intact one is passed to `whole`, if it was read.
    async fn copy(
        &self,
        copy: &BlobCopy,
        id: BlobId,
        record: &BlobRecord,
        whole: &mut Option<(Digests, Blocks)>,
    ) -> Result<Fault> {
        let known = self.store.known();
        let name = known.name(copy.place());
        if known.info(copy.place()).is_none() {
            return Ok(Some((Kind::MissingBlob, format!("place {name} is not configured"))));
        }
        let Some(source) = self.store.source(&known, copy) else { return Ok(None) };
        match self.fault((&source, &name), id, record, whole).await {
            Ok(fault) => Ok(fault),
            Err(error) if is_loss(&error) => Ok(Some((Kind::DamagedBlob, error.to_string()))),
            Err(error) => {
                let detail = format!("blob {id} cannot be read: {error}");
                Ok(self.unreachable(copy.place()).then_some((Kind::UnreachablePlace, detail)))
            }
        }
    }

    async fn fault(
        &self,
        (source, name): (&Source, &str),
        id: BlobId,
        record: &BlobRecord,
        whole: &mut Option<(Digests, Blocks)>,
    ) -> Result<Fault, BlobError> {
        match source.size(id).await? {
            None => return Ok(Some((Kind::MissingBlob, format!("it is not in place {name}")))),
            Some(size) if size != record.size => {
                let detail = format!("it has {size} bytes in {name}, not {}", record.size);
                return Ok(Some((Kind::ShortBlob, detail)));
            }
            Some(_) => {}
        }
        if !record.digests.is_empty() && self.chosen(&id.to_bytes()) {
            *whole = Some(source.check(id, record).await?);
        }
        Ok(None)
    }

    pub(super) async fn orphans(&self, id: PlaceId, place: &Place) -> Result<()> {
        let before = self.store.now().minus(YOUNG).into();
        let mut stored = place.list();
        while let Some(blob) = stored.next().await {
            let blob = match blob {
                Ok(blob) => blob,
                Err(error) if self.unreachable(id) => {
                    let finding =
                        Finding::new(Kind::UnreachablePlace, place.name(), error.to_string());
                    return self.report(finding).await;
                }
                Err(_) => return Ok(()),
            };
            if blob.modified < before && self.store.is_unknown(id, blob.id)? {
                let detail =
                    format!("{} bytes in {} that nothing refers to", blob.size, place.name());
                let mut finding = Finding::new(Kind::OrphanBlob, blob.id, detail);
                if self.options.repair {
                    finding.repaired = self.store.delete_unknown(id, place, blob.id).await?;
                }
                self.report(finding).await?;
            }
        }
        Ok(())
    }

    /// Whether this is the first time that this place did not answer.
    fn unreachable(&self, place: PlaceId) -> bool {
        let mut reported =
            self.unreachable.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        reported.insert(place)
    }
}

fn is_garbage(reads: &impl Reads, blob: BlobId) -> Result<bool> {
    let contents = reads.rows(&keys::blob_users(blob), usize::MAX)?;
    for (key, _) in &contents {
        let Some((_, content)) = keys::blob_user_parts(key) else { return Ok(false) };
        if !reads.rows(&keys::content_users(content), 1)?.is_empty() {
            return Ok(false);
        }
    }
    Ok(!contents.is_empty())
}
