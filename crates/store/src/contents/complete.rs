//! The end of an upload: parts without a gap become one content.

use cenote_blob::{Sha256State, append_crc64nvme};

use super::upload::{forget, mine, parts};
use super::{Received, overlay};
use crate::catalog::{PartRecord, Reads, UploadRecord, keys};
use crate::model::{Content, Digests, Extent, Stat};
use crate::{Caller, Error, ErrorKind, Result, Store};

/// What has arrived, without a gap.
struct Assembled {
    whole: Received,
    /// Up to where the SHA-256 is known, and where it stands there.
    hashed: Option<(u64, Sha256State)>,
}

impl Store {
    /// Publishes what has arrived, which must have no gap.
    ///
    /// Where the parts came in order, the SHA-256 of the whole is known. Elsewhere the bytes after those that
    /// did are read if `sha256` is given, which is checked before; without it, the SHA-256 is not known until
    /// [`Store::compute_digest`] has read the content.
    pub async fn complete_upload(
        &self,
        caller: &Caller,
        upload: u64,
        sha256: Option<[u8; 32]>,
    ) -> Result<Stat> {
        let asked = caller.clone();
        let arrived = self.blocking(move |store| store.arrived(&asked, upload)).await?;
        let whole = match sha256 {
            Some(_) if arrived.whole.digests.sha256.is_none() => self.hash_rest(arrived).await?,
            _ => arrived.whole,
        };
        if sha256.is_some() && whole.digests.sha256 != sha256 {
            return Err(Error::new(ErrorKind::Mismatch, "the SHA-256 is not the one announced")
                .with_hint("look at the parts that have arrived, and send the wrong one again"));
        }
        let caller = caller.clone();
        self.blocking(move |store| store.publish_upload(&caller, upload, &whole)).await
    }

    fn arrived(&self, caller: &Caller, upload: u64) -> Result<Assembled> {
        let view = self.view()?;
        self.assemble_parts(&view, upload, &mine(&view, caller, upload)?)
    }

    async fn hash_rest(&self, Assembled { mut whole, hashed }: Assembled) -> Result<Received> {
        let extents = whole.content.extents.clone();
        let layout = self.lay_out_extents(extents, whole.size);
        let (start, state) = hashed.unwrap_or_default();
        whole.digests.sha256 = Some(layout.sha256_from(start, state).await?);
        Ok(whole)
    }

    fn publish_upload(&self, caller: &Caller, upload: u64, whole: &Received) -> Result<Stat> {
        self.transact(|tx| {
            let record = mine(tx, caller, upload)?;
            if self.assemble_parts(tx, upload, &record)?.whole.content != whole.content {
                let message = "a part arrived while the upload was completed";
                return Err(Error::new(ErrorKind::Conflict, message).with_hint("complete it again"));
            }
            let stat =
                self.publish_in(tx, caller, &record.path.parse()?, whole, &record.options())?;
            forget(tx, upload)?;
            Ok(stat)
        })
    }

    /// The extents of all parts. Where two overlap, the one that begins later counts: a client may send the bytes
    /// at a seam twice.
    fn assemble_parts(
        &self,
        reads: &impl Reads,
        upload: u64,
        record: &UploadRecord,
    ) -> Result<Assembled> {
        let parts = parts(reads, upload)?;
        let (extents, size) = joined(reads, &parts)?;
        if record.size.is_some_and(|announced| announced != size) {
            return Err(gap(size));
        }
        let hashed = hashed(&parts);
        let digests = match (&parts[..], &hashed) {
            ([(_, only)], _) => only.digests.clone(),
            (_, Some((end, state))) if *end == size => {
                Digests::only(Some(state.sha256()), crc64nvme(&parts))
            }
            _ => Digests::only(None, crc64nvme(&parts)),
        };
        let named = record.place.filter(|place| *place != self.known().default_place());
        let content = Content { extents };
        let whole = Received { content, size, digests, blob: None, named, state: None };
        Ok(Assembled { whole, hashed })
    }
}

/// The CRC of the whole, in whatever order its parts came, if none overlap.
fn crc64nvme(parts: &[(u64, PartRecord)]) -> Option<u64> {
    parts
        .iter()
        .try_fold((0, 0), |(end, before), (offset, part)| {
            let joined = append_crc64nvme(before, part.digests.crc64nvme?, part.length);
            (*offset == end).then_some((offset + part.length, joined))
        })
        .map(|(_, crc)| crc)
}

/// Up to where the parts came in order, each after the one that is before it still.
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
