//! The end of a stage: its content becomes one version of the object.

use std::collections::HashSet;

use futures_util::TryStreamExt;

use super::attempt::require_latest;
use super::stage;
use crate::catalog::{BlobRecord, Reads, Transaction, UploadRecord, View, keys};
use crate::contents::layout::Layout;
use crate::contents::media_type::{FirstBytes, Sniffed};
use crate::contents::patches::compact::merge;
use crate::contents::uploads::upload::{mine, mine_at};
use crate::contents::{Completion, NewBlob, Received, UploadId, blob_ids, put_blob, resolve};
use crate::model::{Content, Digests, Extent, Piece, ResourceId, Stat};
use crate::places::Destination;
use crate::{BlobId, Bytes, Caller, Error, ErrorKind, Result, Store};

/// The state of a stage at the start of its publication.
struct Ended {
    record: UploadRecord,
    layout: Layout,
    patches: u32,
    size: u64,
    /// The target places of the content.
    to: Destination,
    /// Its blobs that have to be copied there.
    away: HashSet<BlobId>,
}

/// The result of publishing.
struct Whole {
    received: Received,
    blob: Option<NewBlob>,
}

impl Store {
    /// Publishes a stage as one version, in one commit.
    pub(in crate::contents) async fn publish_stage(
        &self,
        caller: &Caller,
        upload: UploadId,
        how: Completion,
        also: impl Fn(&mut Transaction, ResourceId) -> Result<()> + Send + 'static,
    ) -> Result<Stat> {
        let owned_caller = caller.clone();
        let ended = self
            .blocking(move |store| store.ended_stage(&owned_caller, upload, how.attempt))
            .await?;
        let whole = self.whole_stage(&ended, how).await?;
        let (caller, blob) = (caller.clone(), whole.blob.clone());
        let published = self
            .blocking(move |store| {
                store.transact(|tx| {
                    let record = &ended.record;
                    let stat = store.publish_whole(tx, (&caller, upload), record, &whole, how)?;
                    also(tx, stat.id)?;
                    Ok(stat)
                })
            })
            .await;
        self.published(blob, published).await
    }

    fn ended_stage(&self, caller: &Caller, upload: UploadId, attempt: u64) -> Result<Ended> {
        loop {
            let view = self.view()?;
            let (record, there) = mine_at(&view, caller, upload)?;
            let head = stage(&record)?.clone();
            require_latest(&record, attempt)?;
            require_announced(&record, head.size)?;
            let to = self.stage_destination(&record, there.as_ref())?;
            let Some(pin) = self.pin(&view, head.id)? else { continue };
            let (extents, size, patches) = (merge(resolve(&view, &head)?), head.size, head.patches);
            let away = self.blobs_away(&view, &extents, &to)?;
            let layout = self.lay_out_extents(extents, size, vec![pin]);
            return Ok(Ended { record, layout, patches, size, to, away });
        }
    }

    /// The blobs that have to be copied so that one of these places has all of them. There are none, unless the object went to
    /// another place since the stage was begun.
    fn blobs_away(
        &self,
        view: &View,
        extents: &[Extent],
        to: &Destination,
    ) -> Result<HashSet<BlobId>> {
        let (ids, mut away) = (to.ids(), HashSet::new());
        let Some(first) = ids.first() else { return Ok(away) };
        let all = self.places_with_all(view, extents)?;
        if all.iter().any(|place| ids.contains(place)) {
            return Ok(away);
        }
        for blob in blob_ids(extents) {
            let record = view.get::<BlobRecord>(&keys::blob(blob))?;
            if record.is_none_or(|record| record.copy_in(*first).is_none()) {
                away.insert(blob);
            }
        }
        Ok(away)
    }

    async fn whole_stage(&self, ended: &Ended, how: Completion) -> Result<Whole> {
        let Ended { record, layout, size, to, .. } = ended;
        let digests = digests(stage(record)?.digests.clone(), layout, how).await?;
        let sniffed = match record.media_type {
            Some(_) => Sniffed::Empty,
            None => sniff(layout.clone(), *size).await,
        };
        let (content, blob) = self.folded_whole(ended).await?;
        let (size, named, state) = (*size, to.named, None);
        let received = Received { content, size, digests, blob: None, named, state, sniffed };
        Ok(Whole { received, blob })
    }

    /// What it holds without patches, where it is to be. In a named place nothing of it stays in the catalog, as with a put.
    async fn folded_whole(&self, ended: &Ended) -> Result<(Content, Option<NewBlob>)> {
        let Ended { layout, to, away, .. } = ended;
        let moves = |extent: &Extent| match extent.piece {
            Piece::Inline(_) => to.named.is_some(),
            Piece::Blob(blob) => away.contains(&blob),
            Piece::Hole => false,
        };
        if layout.extents().iter().any(moves) {
            return self.settle_some(layout.clone(), to.clone(), moves).await;
        }
        match ended.patches {
            0 => Ok((Content { extents: layout.clone().into_extents() }, None)),
            _ => self.folded(layout.clone(), to.clone()).await,
        }
    }

    fn publish_whole(
        &self,
        tx: &mut Transaction,
        (caller, upload): (&Caller, UploadId),
        record: &UploadRecord,
        whole: &Whole,
        how: Completion,
    ) -> Result<Stat> {
        if mine(tx, caller, upload)? != *record {
            let message = "the stage was written to while it was being published";
            return Err(Error::new(ErrorKind::Conflict, message).with_hint("publish it again"));
        }
        if let Some(blob) = &whole.blob {
            put_blob(tx, blob)?;
        }
        let options = record.options(how.force);
        let published = self.publish_in(tx, caller, &record.at()?, &whole.received, &options);
        let stat = published.map_err(|error| changed_since(error, record))?;
        tx.mark(keys::garbage(tx.now(), stage(record)?.id));
        tx.delete(keys::upload(upload.number));
        Ok(stat)
    }
}

fn require_announced(record: &UploadRecord, size: u64) -> Result<()> {
    match record.size.is_some_and(|announced| size != announced) {
        true => Err(Error::new(ErrorKind::Conflict, "its size differs from the one announced")
            .with_hint("write the missing bytes, or truncate it")),
        false => Ok(()),
    }
}

/// The digests that are known, those of what was not written to; with the SHA-256 if it is to be compared.
async fn digests(known: Digests, layout: &Layout, how: Completion) -> Result<Digests> {
    let Some(sha256) = how.sha256 else { return Ok(known) };
    let digests = match known.sha256 {
        Some(_) => known,
        None if layout.has_vast_holes() => {
            return Err(Error::invalid("there are too many zeros to compute a SHA-256")
                .with_hint("publish it without a SHA-256"));
        }
        None => layout.clone().digests().await?,
    };
    match digests.sha256 == Some(sha256) {
        true => Ok(digests),
        false => Err(Error::new(ErrorKind::Mismatch, "the SHA-256 differs from the one announced")
            .with_hint("read the stage, and write the wrong bytes again")),
    }
}

/// The media type according to the first bytes; none if they cannot be read, since only a guess depends on it.
async fn sniff(layout: Layout, size: u64) -> Sniffed {
    let most = size.min(FirstBytes::MOST as u64);
    match layout.bytes(0..most).try_collect::<Vec<Bytes>>().await {
        Ok(chunks) => Sniffed::of(&chunks.concat()),
        Err(error) => {
            tracing::warn!(%error, "could not read the start of a stage");
            Sniffed::Empty
        }
    }
}

/// The conditions held when the stage began: if one fails, the object was changed since.
fn changed_since(error: Error, record: &UploadRecord) -> Error {
    if error.kind() != ErrorKind::Precondition || record.if_match.is_none() {
        return error;
    }
    let message = format!("the object has changed since the stage was begun: {}", record.path);
    Error::new(ErrorKind::Precondition, message)
        .with_hint("begin another stage from it, or publish this one with `force`")
}
