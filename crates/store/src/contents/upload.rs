//! Resumable uploads: parts in any order, repeated if need be, then one publication.
//!
//! Invariants: a part is durable when it is acknowledged; a later part at the same offset
//! takes the place of an earlier one; nothing is visible before `complete`.

use std::time::Duration;

use crate::catalog::{PartRecord, Reads, Record, Transaction, UploadRecord, keys};
use crate::contents::{Expected, PutOptions, Received, overlay};
use crate::model::{Content, ContentId, Digests, Extent, Stat, StorePath, Time};
use crate::{Bytes, Caller, Error, ErrorKind, Result, Store, Stream};

/// How to begin an upload.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UploadOptions {
    /// How the object will be put; checked now, and again at the end.
    pub put: PutOptions,
    /// The size of the whole, if it is known; then it must be so.
    pub size: Option<u64>,
}

/// An upload that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// Names it.
    pub id: u64,
    /// Where it goes.
    pub path: StorePath,
    /// The size announced.
    pub size: Option<u64>,
    /// Until when it is kept without being completed.
    pub expires: Time,
    /// What has arrived, by offset.
    pub parts: Vec<Part>,
}

/// A part that has arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its first byte in the whole.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
    /// Its digests.
    pub digests: Digests,
}

/// How long an upload may take.
const LIFETIME: Duration = Duration::from_secs(7 * 24 * 3600);
/// How many parts an upload may have.
const MAX_PARTS: usize = 100_000;

impl Store {
    /// Begins an upload. Needs what [`Store::put`] needs.
    pub fn begin_upload(
        &self,
        caller: &Caller,
        path: &StorePath,
        options: &UploadOptions,
    ) -> Result<Upload> {
        self.may_put(caller, path, &options.put)?;
        let id = self.new_id()?;
        let record = self.transact(|tx| {
            let record = UploadRecord {
                path: path.to_string(),
                owner: caller.user(),
                expires: tx.now().plus(LIFETIME),
                size: options.size,
                media_type: options.put.media_type.clone(),
                mode: options.put.mode,
                mtime: options.put.mtime,
                parents: options.put.parents,
                if_match: options.put.conditions.if_match.clone(),
                if_absent: options.put.conditions.if_absent,
                place: options.put.place,
            };
            tx.put(keys::upload(id), &record);
            Ok(record)
        })?;
        Ok(Upload {
            id,
            path: path.clone(),
            size: record.size,
            expires: record.expires,
            parts: Vec::new(),
        })
    }

    /// Takes a part, whole or not at all.
    pub async fn put_part<E>(
        &self,
        caller: &Caller,
        upload: u64,
        offset: u64,
        bytes: impl Stream<Item = Result<Bytes, E>>,
        expected: &Expected,
    ) -> Result<Part>
    where
        E: std::fmt::Display,
    {
        let asked = caller.clone();
        let place =
            self.blocking(move |store| Ok(mine(&store.view()?, &asked, upload)?.place)).await?;
        let destination = self.known().destination(place)?;
        // Only the first part may stay in the catalog, or a whole of many parts would.
        let first = offset == 0 && destination.named.is_none();
        let inline = if first { self.parts().limits.inline } else { 0 };
        let received = self.receive_into(destination, inline, bytes, expected).await?;
        let (caller, blob) = (caller.clone(), received.fresh());
        let kept =
            self.blocking(move |store| store.keep_part(&caller, upload, offset, &received)).await;
        self.published(blob, kept).await
    }

    /// Takes a part that has been received.
    pub fn keep_part(
        &self,
        caller: &Caller,
        upload: u64,
        offset: u64,
        received: &Received,
    ) -> Result<Part> {
        if offset.checked_add(received.size).is_none_or(|end| end > self.parts().limits.content) {
            return Err(Error::new(
                ErrorKind::TooLarge,
                "the part ends beyond the largest content",
            ));
        }
        let content = ContentId(self.new_id()?);
        self.transact(|tx| {
            let record = mine(tx, caller, upload)?;
            if record.size.is_some_and(|size| offset + received.size > size) {
                return Err(Error::new(
                    ErrorKind::Mismatch,
                    "the part ends beyond the size announced",
                ));
            }
            drop_part(tx, upload, offset)?;
            super::store_content(tx, content, &received.content, received.blob.as_slice())?;
            let digests = received.digests.clone();
            tx.put(
                keys::part(upload, offset),
                &PartRecord { length: received.size, digests: digests.clone(), content },
            );
            Ok(Part { offset, length: received.size, digests })
        })
    }

    /// What has arrived of an upload.
    pub fn upload(&self, caller: &Caller, upload: u64) -> Result<Upload> {
        let view = self.view()?;
        let record = mine(&view, caller, upload)?;
        let parts = parts(&view, upload)?;
        let parts = parts.into_iter().map(|(offset, part)| Part {
            offset,
            length: part.length,
            digests: part.digests,
        });
        Ok(Upload {
            id: upload,
            path: record.path.parse()?,
            size: record.size,
            expires: record.expires,
            parts: parts.collect(),
        })
    }

    /// Publishes what has arrived, which must have no gap. A SHA-256 of the whole is checked before;
    /// without one it is not known until [`Store::compute_digest`] has read the content.
    pub async fn complete_upload(
        &self,
        caller: &Caller,
        upload: u64,
        sha256: Option<[u8; 32]>,
    ) -> Result<Stat> {
        let asked = caller.clone();
        let arrived = self.blocking(move |store| store.arrived(&asked, upload)).await?;
        let mut digests = arrived.digests.clone();
        if sha256.is_some() && digests.sha256.is_none() {
            let extents = arrived.content.extents.clone();
            let layout = self.lay_out_extents(&self.view()?, extents, arrived.size)?;
            digests = layout.digests().await?;
        }
        if sha256.is_some() && digests.sha256 != sha256 {
            return Err(Error::new(ErrorKind::Mismatch, "the SHA-256 is not the one announced")
                .with_hint("look at the parts that have arrived, and send the wrong one again"));
        }
        let caller = caller.clone();
        let whole = Received { digests, ..arrived };
        self.blocking(move |store| store.publish_upload(&caller, upload, &whole)).await
    }

    fn arrived(&self, caller: &Caller, upload: u64) -> Result<Received> {
        let view = self.view()?;
        self.assemble_parts(&view, upload, &mine(&view, caller, upload)?)
    }

    fn publish_upload(&self, caller: &Caller, upload: u64, whole: &Received) -> Result<Stat> {
        self.transact(|tx| {
            let record = mine(tx, caller, upload)?;
            if self.assemble_parts(tx, upload, &record)?.content != whole.content {
                return Err(Error::new(
                    ErrorKind::Conflict,
                    "a part arrived while the upload was completed",
                )
                .with_hint("complete it again"));
            }
            let stat =
                self.publish_in(tx, caller, &record.path.parse()?, whole, &record.options())?;
            forget(tx, upload)?;
            Ok(stat)
        })
    }

    /// Gives an upload up.
    pub fn abandon_upload(&self, caller: &Caller, upload: u64) -> Result<()> {
        self.transact(|tx| {
            mine(tx, caller, upload)?;
            forget(tx, upload)
        })
    }

    /// Gives up the uploads that have expired; says how many.
    pub fn sweep_uploads(&self) -> Result<u64> {
        let now = self.now();
        let rows = self.view()?.rows(&keys::uploads(), usize::MAX)?;
        let mut swept = 0;
        for (key, value) in rows {
            if let Some(upload) = keys::first_id(&key)
                && UploadRecord::from_value(&value)?.expires < now
            {
                self.transact(|tx| forget(tx, upload))?;
                swept += 1;
            }
        }
        Ok(swept)
    }
}

impl UploadRecord {
    fn options(&self) -> PutOptions {
        PutOptions {
            conditions: super::Conditions {
                if_match: self.if_match.clone(),
                if_absent: self.if_absent,
            },
            expected: Expected::default(),
            parents: self.parents,
            media_type: self.media_type.clone(),
            mode: self.mode,
            mtime: self.mtime,
            place: self.place,
        }
    }
}

fn mine(reads: &impl Reads, caller: &Caller, upload: u64) -> Result<UploadRecord> {
    let record = reads.get::<UploadRecord>(&keys::upload(upload))?;
    record.filter(|record| record.owner == caller.user() || caller.is_admin()).ok_or_else(|| {
        Error::new(ErrorKind::NotFound, format!("no such upload: {upload}"))
            .with_hint("it may have been completed, given up, or have expired: begin again")
    })
}

fn parts(reads: &impl Reads, upload: u64) -> Result<Vec<(u64, PartRecord)>> {
    let rows = reads.rows(&keys::parts(upload), MAX_PARTS)?;
    let part = |(key, value): &(Bytes, Bytes)| {
        Ok((keys::last_id(key).unwrap_or_default(), PartRecord::from_value(value)?))
    };
    rows.iter().map(part).collect()
}

impl Store {
    /// The extents of all parts. Where two overlap, the one that begins later counts: a client may send the bytes
    /// at a seam twice.
    fn assemble_parts(
        &self,
        reads: &impl Reads,
        upload: u64,
        record: &UploadRecord,
    ) -> Result<Received> {
        let parts = parts(reads, upload)?;
        let (extents, size) = joined(reads, &parts)?;
        if record.size.is_some_and(|announced| announced != size) {
            return Err(gap(size));
        }
        let digests = match &parts[..] {
            [(_, only)] => only.digests.clone(),
            _ => Digests::default(),
        };
        let named = record.place.filter(|place| *place != self.known().default_place());
        Ok(Received { content: Content { extents }, size, digests, blob: None, named })
    }
}

/// The extents of parts without a gap, and where they end.
fn joined(reads: &impl Reads, parts: &[(u64, PartRecord)]) -> Result<(Vec<Extent>, u64)> {
    let mut extents = Vec::with_capacity(parts.len());
    let (mut end, mut overlap) = (0, false);
    for (offset, part) in parts {
        if *offset > end {
            return Err(gap(end));
        }
        overlap |= *offset < end;
        extents.extend(part_extents(reads, *offset, part)?);
        end = end.max(offset + part.length);
    }
    let extents = if overlap { overlay(Vec::new(), extents, end) } else { extents };
    Ok((extents, end))
}

fn part_extents(reads: &impl Reads, offset: u64, part: &PartRecord) -> Result<Vec<Extent>> {
    let content = reads.get::<Content>(&keys::content(part.content))?;
    let content = content.ok_or_else(|| Error::damaged("a part has no content"))?;
    Ok(content
        .extents
        .into_iter()
        .map(|extent| Extent { offset: extent.offset + offset, ..extent })
        .collect())
}

fn gap(at: u64) -> Error {
    Error::new(ErrorKind::Conflict, format!("bytes from {at} on are missing"))
        .with_hint("ask which parts have arrived, and send those that are missing")
}

fn drop_part(tx: &mut Transaction, upload: u64, offset: u64) -> Result<()> {
    if let Some(part) = tx.get::<PartRecord>(&keys::part(upload, offset))? {
        tx.delete(keys::part(upload, offset));
        tx.mark(keys::garbage(tx.now(), part.content));
    }
    Ok(())
}

/// Gives an upload up, parts and all.
pub(crate) fn forget(tx: &mut Transaction, upload: u64) -> Result<()> {
    for (offset, _) in parts(tx, upload)? {
        drop_part(tx, upload, offset)?;
    }
    tx.delete(keys::upload(upload));
    Ok(())
}
