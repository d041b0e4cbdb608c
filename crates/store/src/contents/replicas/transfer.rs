//! Making copies of blobs: into further places, and over damaged ones.
//!
//! Invariant: a copy is durable before a record names it, and its bytes were compared with the digest that the
//! record has.

use cenote_blob::{Blocks, Damage, Error as BlobError, Place, Written};
use futures_util::StreamExt;

use crate::catalog::{BlobCopy, BlobRecord, Reads, keys};
use crate::contents::{all_blocks, count_copy, require_up};
use crate::model::{Digests, PlaceId};
use crate::places::{KnownPlaces, Source};
use crate::servers::CopyClaim;
use crate::{BlobId, Error, ErrorKind, Result, Store};

impl Store {
    /// Has a blob in a place, too; returns whether it was not there.
    pub(crate) async fn copy_blob(&self, blob: BlobId, to: PlaceId) -> Result<bool> {
        let record = self.blob_record(blob)?;
        if record.copy_in(to).is_some() {
            return Ok(false);
        }
        // If it is never recorded, the sweep deletes it.
        let claim = self.claim_copy(blob, to)?.ok_or_else(busy)?;
        let known = self.known();
        self.send_to(blob, &record, to, &known).await?;
        self.blocking(move |store| store.note_copy(blob, to, claim)).await
    }

    fn note_copy(&self, blob: BlobId, to: PlaceId, claim: CopyClaim) -> Result<bool> {
        let noted = self.note_claimed_copy(blob, to)?;
        claim.settle();
        match noted {
            true => claim.was_used(),
            false => claim.end(),
        }
        Ok(noted)
    }

    fn note_claimed_copy(&self, blob: BlobId, to: PlaceId) -> Result<bool> {
        self.transact(|tx| {
            let found = tx.get::<BlobRecord>(&keys::blob(blob))?;
            let mut record = found.ok_or_else(|| swept(blob))?;
            if record.copy_in(to).is_some() {
                return Ok(false);
            }
            require_up(tx, to)?;
            self.use_claim(tx, blob, to)?;
            let copy = BlobCopy::Kept(to);
            count_copy(tx, &copy, record.size, 1);
            record.copies.push(copy);
            tx.put(keys::blob(blob), &record);
            Ok(true)
        })
    }

    /// Writes a good copy over a damaged or missing one.
    pub(crate) async fn mend(&self, blob: BlobId, place: PlaceId) -> Result<Mended> {
        let Some(record) = self.view()?.get::<BlobRecord>(&keys::blob(blob))? else {
            return Ok(Mended::Well);
        };
        let Some(copy) = record.copy_in(place) else { return Ok(Mended::Well) };
        let known = self.known();
        let Some(source) = self.source(&known, copy) else { return Ok(Mended::Later) };
        if source.check(blob, &record).await.is_ok() {
            return Ok(Mended::Well);
        }
        let BlobCopy::Kept(_) = copy else { return Err(not_ours(blob)) };
        let Some(claim) = self.claim_copy(blob, place)? else { return Ok(Mended::Later) };
        self.send_to(blob, &record, place, &known).await?;
        claim.settle();
        claim.end();
        tracing::info!(%blob, place = known.name(place), "a damaged copy was repaired");
        self.inner.damage.count_mended();
        Ok(Mended::Done)
    }

    /// Repairs what reads found damaged; returns how many copies. What cannot be repaired is marked.
    pub async fn mend_noted(&self) -> Result<u64> {
        let mut mended = 0;
        for ((blob, place), what) in self.inner.damage.take() {
            match self.mend(blob, place).await {
                Ok(Mended::Later) => {}
                Ok(outcome) => {
                    mended += u64::from(outcome == Mended::Done);
                    self.unmark(blob, place).await?;
                }
                Err(error) => {
                    tracing::warn!(%blob, %place, %error, "a copy cannot be repaired");
                    self.mark(blob, place, what).await?;
                }
            }
        }
        Ok(mended)
    }

    async fn send_to(
        &self,
        blob: BlobId,
        record: &BlobRecord,
        to: PlaceId,
        known: &KnownPlaces,
    ) -> Result<Written> {
        self.send(blob, record, to, known.open(to)?).await
    }

    /// Writes a blob into a place from the first of its other copies that is whole, or else from all copies together.
    async fn send(
        &self,
        blob: BlobId,
        record: &BlobRecord,
        to: PlaceId,
        target: &Place,
    ) -> Result<Written> {
        let known = self.known();
        let mut fault = None;
        for copy in record.copies.iter().filter(|copy| copy.place() != to) {
            let Some(source) = self.source(&known, copy) else { continue };
            match pipe(blob, record, &source, target).await {
                Ok(written) => return Ok(written),
                Err(Piped::Target(error)) => return Err(self.failed_write(error)),
                Err(Piped::Source(error)) => {
                    if !self.inner.damage.has_marked(blob, source.place()) {
                        source.blame(blob, &error, &self.inner.damage);
                    }
                    fault = fault.or(Some(Error::from(error)));
                }
            }
        }
        match self.send_blocks(blob, record, target).await? {
            Some(written) => Ok(written),
            None => Err(fault.unwrap_or_else(|| no_other_copy(blob))),
        }
    }

    /// Writes a blob into a place, each block from any copy in which it is whole. None if the checksums of its blocks are
    /// not known.
    async fn send_blocks(
        &self,
        blob: BlobId,
        record: &BlobRecord,
        target: &Place,
    ) -> Result<Option<Written>> {
        let owned_record = record.clone();
        let blocks =
            self.blocking(move |store| all_blocks(&store.view()?, blob, &owned_record)).await;
        if !matches!(blocks, Ok(Some(_))) {
            return Ok(None);
        }
        let (mut chunks, mut writer) = (self.blob_bytes(blob, record), target.writer(blob, []));
        while let Some(chunk) = chunks.next().await {
            match chunk {
                Ok(chunk) => writer.write(chunk).await.map_err(|error| self.failed_write(error))?,
                Err(error) => {
                    writer.abort().await;
                    return Err(error);
                }
            }
        }
        let written = writer.finish().await.map_err(|error| self.failed_write(error))?;
        match damage_of(&record.digests, &Digests::from(&written.digests)) {
            None => Ok(Some(written)),
            // Nothing refers to it, or it is no more damaged than before.
            Some(damage) => {
                let place = target.name().to_owned();
                Err(BlobError::Damaged { place, id: blob, damage }.into())
            }
        }
    }

    pub(crate) fn blob_record(&self, blob: BlobId) -> Result<BlobRecord> {
        self.view()?.get::<BlobRecord>(&keys::blob(blob))?.ok_or_else(|| swept(blob))
    }
}

/// What became of a damaged copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mended {
    /// It was rewritten.
    Done,
    /// It is whole, or not there to be read any more.
    Well,
    /// It cannot be examined now.
    Later,
}

/// Which side of a transfer failed.
enum Piped {
    Source(BlobError),
    Target(BlobError),
}

/// The last bytes reach the target only if all were what they should be.
async fn pipe(
    blob: BlobId,
    record: &BlobRecord,
    source: &Source,
    target: &Place,
) -> Result<Written, Piped> {
    let mut chunks = source.whole(blob, record);
    let mut writer = target.writer(blob, []);
    while let Some(chunk) = chunks.next().await {
        match chunk {
            Ok(chunk) => writer.write(chunk).await.map_err(Piped::Target)?,
            Err(error) => {
                writer.abort().await;
                return Err(Piped::Source(error));
            }
        }
    }
    writer.finish().await.map_err(Piped::Target)
}

impl Source {
    /// All bytes, verified if their digest is known.
    fn whole(&self, blob: BlobId, record: &BlobRecord) -> cenote_blob::ReadStream {
        match record.digests.sha256 {
            Some(sha256) => self.read_verified(blob, record.size, sha256),
            None => self.read(blob, 0..record.size),
        }
    }

    /// Reads all of it and compares the known digests; returns those of its bytes, and the checksums of their blocks.
    pub(crate) async fn check(
        &self,
        blob: BlobId,
        record: &BlobRecord,
    ) -> Result<(Digests, Blocks), BlobError> {
        let (found, blocks) = self.inspect(blob, record.size).await?;
        let found = Digests::from(&found);
        match damage_of(&record.digests, &found) {
            None => Ok((found, blocks)),
            Some(damage) => {
                let place = self.place().to_string();
                Err(BlobError::Damaged { place, id: blob, damage })
            }
        }
    }
}

/// How bytes with these digests differ from what they should be.
pub(crate) fn damage_of(expected: &Digests, found: &Digests) -> Option<Damage> {
    let sha256 = expected.sha256.zip(found.sha256).filter(|(expected, actual)| expected != actual);
    let crc = expected.crc64nvme.zip(found.crc64nvme);
    let crc = crc.filter(|(expected, actual)| expected != actual);
    let sha256 = sha256.map(|(expected, actual)| Damage::Digest { expected, actual });
    sha256.or(crc.map(|(expected, actual)| Damage::Crc { expected, actual }))
}

fn not_ours(blob: BlobId) -> Error {
    let message = format!("blob {blob} is a registered file, which is not written to");
    Error::new(ErrorKind::Damaged, message).with_hint("put the file back, or register it again")
}

fn no_other_copy(blob: BlobId) -> Error {
    Error::new(ErrorKind::Unavailable, format!("no other copy of blob {blob} is available"))
        .with_hint("check the places with `cenote place ls`")
}

fn swept(blob: BlobId) -> Error {
    Error::new(ErrorKind::Conflict, format!("blob {blob} was swept meanwhile"))
        .with_hint("try again")
}

fn busy() -> Error {
    Error::new(ErrorKind::Conflict, "the same copy is being made or removed").with_hint("try again")
}
