//! Making copies of blobs: into further places, and over damaged ones.
//!
//! Invariant: a copy is durable before a record names it, and its bytes were compared with the digest that the
//! record has.

use cenote_blob::{Error as BlobError, Place, Written};
use futures_util::StreamExt;

use crate::catalog::{BlobCopy, BlobRecord, Reads, keys};
use crate::contents::{count_copy, require_up};
use crate::model::PlaceId;
use crate::places::Source;
use crate::{BlobId, Error, ErrorKind, Result, Store};

impl Store {
    /// Has a blob in a place, too; says whether it was not there.
    pub(crate) async fn copy_blob(&self, blob: BlobId, to: PlaceId) -> Result<bool> {
        let record = self.blob_record(blob)?;
        if record.copy_in(to).is_some() {
            return Ok(false);
        }
        // If it does not come to be known, the sweep deletes it.
        let claim = self.inner.claims.take(blob, to).ok_or_else(busy)?;
        let known = self.known();
        self.send(blob, &record, to, known.open(to)?).await?;
        let held = claim.clone();
        let noted = self.blocking(move |store| {
            let noted = store.note_copy(blob, to);
            drop(held);
            noted
        });
        let noted = noted.await?;
        claim.settle();
        Ok(noted)
    }

    fn note_copy(&self, blob: BlobId, to: PlaceId) -> Result<bool> {
        self.transact(|tx| {
            let found = tx.get::<BlobRecord>(&keys::blob(blob))?;
            let mut record = found.ok_or_else(|| swept(blob))?;
            if record.copy_in(to).is_some() {
                return Ok(false);
            }
            require_up(tx, to)?;
            let copy = BlobCopy::Kept(to);
            count_copy(tx, &copy, record.size, 1);
            record.copies.push(copy);
            tx.put(keys::blob(blob), &record);
            Ok(true)
        })
    }

    /// Writes a good copy over a damaged or missing one; says whether that was so, and could be done.
    pub(crate) async fn mend(&self, blob: BlobId, place: PlaceId) -> Result<bool> {
        let Some(record) = self.view()?.get::<BlobRecord>(&keys::blob(blob))? else {
            return Ok(false);
        };
        let known = self.known();
        let copy = BlobCopy::Kept(place);
        let Some(source) = self.source(&known, &copy).filter(|_| record.copies.contains(&copy))
        else {
            return Ok(false);
        };
        if source.check(blob, &record).await.is_ok() {
            return Ok(false);
        }
        let Some(claim) = self.inner.claims.take(blob, place) else { return Ok(false) };
        self.send(blob, &record, place, known.open(place)?).await?;
        claim.settle();
        tracing::info!(%blob, place = known.name(place), "a damaged copy was mended");
        Ok(true)
    }

    /// Mends what reads found damaged; says how many copies.
    pub async fn mend_noted(&self) -> Result<u64> {
        let mut mended = 0;
        for (blob, place) in self.inner.damage.take() {
            match self.mend(blob, place).await {
                Ok(done) => mended += u64::from(done),
                Err(error) => tracing::warn!(%blob, %place, %error, "a copy cannot be mended"),
            }
        }
        Ok(mended)
    }

    /// Writes a blob into a place from the first of its other copies that is whole.
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
                    source.blame(blob, &error, &self.inner.damage);
                    fault = fault.or(Some(Error::from(error)));
                }
            }
        }
        Err(fault.unwrap_or_else(|| no_other_copy(blob)))
    }

    pub(crate) fn blob_record(&self, blob: BlobId) -> Result<BlobRecord> {
        self.view()?.get::<BlobRecord>(&keys::blob(blob))?.ok_or_else(|| swept(blob))
    }
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

    /// Reads all of it.
    pub(crate) async fn check(&self, blob: BlobId, record: &BlobRecord) -> Result<(), BlobError> {
        let mut chunks = self.whole(blob, record);
        while let Some(chunk) = chunks.next().await {
            chunk?;
        }
        Ok(())
    }
}

fn no_other_copy(blob: BlobId) -> Error {
    Error::new(ErrorKind::Unavailable, format!("no other copy of blob {blob} can be reached"))
        .with_hint("look at the places with `cenote place ls`")
}

fn swept(blob: BlobId) -> Error {
    Error::new(ErrorKind::Conflict, format!("blob {blob} was swept meanwhile"))
        .with_hint("try again")
}

fn busy() -> Error {
    Error::new(ErrorKind::Conflict, "somebody is making or removing the same copy")
        .with_hint("try again")
}
