//! The end of an upload: parts without a gap become one content.

use std::sync::Arc;

use cenote_blob::{BlobId, Sha256State, append_crc64nvme};

use super::gather::Gathered;
use super::upload::{forget_parts, mine, parts};
use crate::catalog::{PartRecord, Reads, Transaction, UploadRecord, View, keys};
use crate::contents::sweep::Pin;
use crate::contents::{Completion, NewBlob, Part, Received, UploadId, put_blob, store_content};
use crate::model::{Content, ContentId, Digests, Extent, Piece, ResourceId, Stat};
use crate::{Caller, Error, ErrorKind, Notes, Result, Store};

/// What has arrived, without a gap.
struct Arrived {
    view: Arc<View>,
    record: UploadRecord,
    /// As they were sent.
    sent: Vec<(u64, PartRecord)>,
    /// The same at the offsets that they have in the whole.
    parts: Vec<(u64, PartRecord)>,
    size: u64,
}

/// The whole, and the blob that was written for it.
struct Assembled {
    whole: Received,
    blob: Option<NewBlob>,
    /// The same when the catalog knows it already, as a content that is not to be swept yet.
    noted: Option<(BlobId, Arc<Pin>)>,
}

impl Store {
    /// Publishes what has arrived, which must have no gap, or what a stage holds.
    ///
    /// The SHA-256 of the whole is known if the parts arrived in order, or if all of them were small enough for
    /// the catalog and did not overlap. Elsewhere the bytes after those that came in order are read if `sha256` is
    /// given, which is checked before; without it, the SHA-256 is not known until [`Store::compute_digest`] has read
    /// the content. So it is with a stage that was written to, and with parts that are only numbered.
    ///
    /// # Errors
    /// [`ErrorKind::Precondition`] if the object has changed since a stage was begun from it, unless forced.
    pub async fn complete_upload(
        &self,
        caller: &Caller,
        upload: UploadId,
        how: impl Into<Completion>,
    ) -> Result<Stat> {
        self.complete_upload_with(caller, upload, how, "", |_, _| Ok(())).await
    }

    /// The same, with a change of an opening's notes in the commit that publishes: if that is refused, nothing is
    /// published. It sees the parts as they were sent; none of a stage.
    pub async fn complete_upload_with(
        &self,
        caller: &Caller,
        upload: UploadId,
        how: impl Into<Completion>,
        opening: &'static str,
        also: impl Fn(&mut Notes<'_>, &[Part]) -> Result<()> + Send + 'static,
    ) -> Result<Stat> {
        let (owned_caller, how) = (caller.clone(), how.into());
        let arrived = self.blocking(move |store| store.arrived(&owned_caller, upload, how)).await?;
        let sent = arrived.as_ref().map(Arrived::described).unwrap_or_default();
        let also =
            move |tx: &mut Transaction, id| also(&mut Notes::in_commit(tx, opening, id), &sent);
        let Some(arrived) = arrived else {
            return self.publish_stage(caller, upload, how, also).await;
        };
        let assembled = self.join_parts(&arrived).await?;
        let fresh = assembled.blob.clone();
        let completed = self.complete(caller, upload, (arrived, assembled), (how, also)).await;
        self.published(fresh, completed).await
    }

    async fn complete(
        &self,
        caller: &Caller,
        upload: UploadId,
        (arrived, mut assembled): (Arrived, Assembled),
        (how, also): (
            Completion,
            impl Fn(&mut Transaction, ResourceId) -> Result<()> + Send + 'static,
        ),
    ) -> Result<Stat> {
        let sha256 = how.sha256;
        if sha256.is_some() && assembled.whole.digests.sha256.is_none() {
            let known = Some(self.hash_rest(&arrived, &mut assembled).await?);
            assembled.whole.digests.sha256 = known;
        }
        if sha256.is_some() && assembled.whole.digests.sha256 != sha256 {
            return Err(Error::new(
                ErrorKind::Mismatch,
                "the SHA-256 differs from the one announced",
            )
            .with_hint("check which parts have arrived, and send the wrong one again"));
        }
        let caller = caller.clone();
        self.blocking(move |store| {
            store.publish_upload((&caller, upload), &arrived, &assembled, (how.force, also))
        })
        .await
    }

    /// What has arrived; none of a stage.
    fn arrived(
        &self,
        caller: &Caller,
        upload: UploadId,
        how: Completion,
    ) -> Result<Option<Arrived>> {
        let view = self.view()?;
        let record = mine(&view, caller, upload)?;
        if record.stage.is_some() {
            return Ok(None);
        }
        let sent = parts(&view, upload.number)?;
        let parts = if how.in_order { one_after_another(&sent) } else { sent.clone() };
        let size = end_of(&parts)?;
        match record.size {
            Some(announced) if announced != size => Err(gap(size)),
            _ => Ok(Some(Arrived { view: Arc::new(view), record, sent, parts, size })),
        }
    }

    async fn join_parts(&self, arrived: &Arrived) -> Result<Assembled> {
        let Arrived { view, record, parts, size, .. } = arrived;
        let gathered = self.gather(view, parts, record).await?;
        let Gathered { extents, received, sniffed } = gathered;
        let digests = digests(parts, *size, received.as_ref());
        let named = record.place.filter(|place| *place != self.known().default_place());
        let content = Content { extents };
        let size = *size;
        let whole = Received { content, size, digests, blob: None, named, state: None, sniffed };
        let blob = received.and_then(|received| received.blob);
        Ok(Assembled { whole, blob, noted: None })
    }

    async fn hash_rest(&self, arrived: &Arrived, assembled: &mut Assembled) -> Result<[u8; 32]> {
        if let Some(blob) = assembled.blob.take() {
            let id = blob.id;
            let pin = self.blocking(move |store| store.note_gathered(&blob)).await?;
            assembled.noted = Some((id, pin));
        }
        let extents = assembled.whole.content.extents.clone();
        let pins = self.pin_parts(arrived)?;
        let layout = self.lay_out_extents(extents, arrived.size, pins);
        let (start, state) = hashed(&arrived.parts).unwrap_or_default();
        layout.sha256_from(start, state).await
    }

    /// Makes a blob known, so that it can be read, as what the sweep is to look at.
    fn note_gathered(&self, blob: &NewBlob) -> Result<Arc<Pin>> {
        let id = ContentId(self.new_id()?);
        let pin = self.pin_new(id)?;
        let piece = Piece::Blob(blob.id);
        let all = Extent { offset: 0, length: blob.record.size, start: 0, piece };
        let content = Content { extents: vec![all] };
        self.transact(|tx| {
            store_content(tx, id, &content, Some(blob))?;
            tx.mark(keys::garbage(tx.now(), id));
            Ok(pin.clone())
        })
    }

    /// Keeps the parts while they are read.
    fn pin_parts(&self, arrived: &Arrived) -> Result<Vec<Arc<Pin>>> {
        let pin = |(_, part): &(u64, PartRecord)| {
            self.pin(&arrived.view, part.content)?.ok_or_else(replaced)
        };
        arrived.parts.iter().map(pin).collect()
    }

    fn publish_upload(
        &self,
        (caller, upload): (&Caller, UploadId),
        arrived: &Arrived,
        Assembled { whole, blob, noted }: &Assembled,
        (force, also): (bool, impl Fn(&mut Transaction, ResourceId) -> Result<()>),
    ) -> Result<Stat> {
        self.transact(|tx| {
            let record = mine(tx, caller, upload)?;
            let swept = match noted {
                Some((blob, _)) => !tx.has(&keys::blob(*blob))?,
                None => false,
            };
            if swept || parts(tx, upload.number)? != arrived.sent {
                return Err(replaced());
            }
            if let Some(blob) = blob {
                put_blob(tx, blob)?;
            }
            let stat = self.publish_in(tx, caller, &record.at()?, whole, &record.options(force))?;
            also(tx, stat.id)?;
            forget_parts(tx, upload.number, &arrived.sent);
            Ok(stat)
        })
    }
}

impl Arrived {
    fn described(&self) -> Vec<Part> {
        let part = |(offset, part): &(u64, PartRecord)| Part {
            offset: *offset,
            length: part.length,
            digests: part.digests.clone(),
        };
        self.sent.iter().map(part).collect()
    }
}

/// Parts in the order of their offsets, each where the one before it ends.
fn one_after_another(sent: &[(u64, PartRecord)]) -> Vec<(u64, PartRecord)> {
    let mut end = 0;
    let place = |(_, part): &(u64, PartRecord)| {
        let offset = end;
        end += part.length;
        (offset, part.clone())
    };
    sent.iter().map(place).collect()
}

/// Where parts end, if there is no gap between them.
fn end_of(parts: &[(u64, PartRecord)]) -> Result<u64> {
    parts.iter().try_fold(0, |end, (offset, part)| match *offset > end {
        true => Err(gap(end)),
        false => Ok(end.max(offset + part.length)),
    })
}

/// The known properties of the whole, without reading it.
fn digests(parts: &[(u64, PartRecord)], size: u64, gathered: Option<&Received>) -> Digests {
    let crc = crc64nvme(parts);
    match (parts, gathered, hashed(parts)) {
        ([(_, only)], ..) => only.digests.clone(),
        // Without an overlap, for which there is no CRC, these are all bytes.
        (_, Some(gathered), _) if gathered.size == size && crc.is_some() => {
            gathered.digests.clone()
        }
        (.., Some((end, state))) if end == size => Digests::only(Some(state.sha256()), crc),
        _ => Digests::only(None, crc),
    }
}

/// The CRC of the whole, in whatever order its parts arrived, if none overlap.
fn crc64nvme(parts: &[(u64, PartRecord)]) -> Option<u64> {
    parts
        .iter()
        .try_fold((0, 0), |(end, before), (offset, part)| {
            let joined = append_crc64nvme(before, part.digests.crc64nvme?, part.length);
            (*offset == end).then_some((offset + part.length, joined))
        })
        .map(|(_, crc)| crc)
}

/// The end of the parts that arrived in order, each after the one that still precedes it.
fn hashed(parts: &[(u64, PartRecord)]) -> Option<(u64, Sha256State)> {
    let (mut end, mut last) = (0, None);
    for (offset, part) in parts {
        if *offset < end {
            return None;
        }
        let Some(running) = &part.running else { break };
        if running.after != last.map(|last: &PartRecord| last.content) {
            break;
        }
        (end, last) = (offset + part.length, Some(part));
    }
    let state = Sha256State::from_bytes(&last?.running.as_ref()?.state)?;
    Some((end, state))
}

fn replaced() -> Error {
    Error::new(ErrorKind::Conflict, "a part arrived while the upload was being completed")
        .with_hint("complete it again")
}

fn gap(at: u64) -> Error {
    Error::new(ErrorKind::Conflict, format!("bytes are missing from offset {at}"))
        .with_hint("check which parts have arrived, and send the missing ones")
}
