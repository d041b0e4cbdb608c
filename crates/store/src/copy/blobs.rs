//! The blobs that a copied catalog names, copied under their ids.
//!
//! Invariant: a blob is visible in the target only with the length and the digests of its record. One that is damaged in the origin
//! is reported, and keeps no other from being copied.

use bytes::Bytes;
use cenote_blob::{Damage, Error as BlobError};
use cenote_kv::{Row, ScanOptions};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::{CopyChoices, CopyProgress, Landing, Origin, Watch};
use crate::catalog::{BlobRecord, Record, keys};
use crate::contents::{damage_of, is_loss};
use crate::model::Digests;
use crate::{BlobId, Error, ErrorKind, Result};

/// Records that are read at once.
const PAGE: usize = 256;
/// Blobs that are copied at the same time.
const AT_ONCE: usize = 8;

/// What became of the blobs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopiedBlobs {
    /// Blobs that were copied.
    pub copied: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Blobs that were there already.
    pub present: u64,
    /// Blobs that stay where they are: in other places, or files outside.
    pub elsewhere: u64,
    /// Blobs that could not be copied.
    pub damaged: Vec<Damaged>,
}

/// A blob that could not be copied, since its bytes are damaged or missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// The blob.
    pub blob: BlobId,
    /// What was found, in a sentence.
    pub what: String,
}

/// What became of one.
enum Outcome {
    Elsewhere,
    Present,
    Copied(u64),
    Damaged(Damaged),
}

/// Which side of a copy failed.
enum Failed {
    Origin(Error),
    Target(BlobError),
}

/// Copies those that are not there yet.
pub(super) async fn copy(
    origin: &dyn Origin,
    landing: &Landing,
    choices: CopyChoices,
    watch: &Watch,
) -> Result<CopiedBlobs> {
    let (mut moved, mut after) = (CopiedBlobs::default(), None::<Bytes>);
    loop {
        let rows = landing.blocking(move |landing| page(landing, after)).await?;
        let copies = stream::iter(&rows).map(|row| copy_row(origin, landing, choices, row));
        let mut copies = copies.buffer_unordered(AT_ONCE);
        while let Some(outcome) = copies.try_next().await? {
            moved.add(outcome);
            watch(CopyProgress::Blobs(moved.copied + moved.present, moved.bytes));
        }
        drop(copies);
        after = match rows.last() {
            Some((last, _)) if rows.len() == PAGE => Some(last.clone()),
            _ => return Ok(moved),
        };
    }
}

/// The next records of blobs.
fn page(landing: &Landing, after: Option<Bytes>) -> Result<Vec<Row>> {
    let range = match after {
        Some(after) => keys::blobs().after(&after),
        None => keys::blobs(),
    };
    let view = landing.engine.snapshot()?;
    Ok(view.scan(&range, ScanOptions::limit(PAGE)).collect::<cenote_kv::Result<_>>()?)
}

async fn copy_row(
    origin: &dyn Origin,
    landing: &Landing,
    choices: CopyChoices,
    (key, value): &Row,
) -> Result<Outcome> {
    let id = keys::blob_id(key).ok_or_else(|| Error::damaged("a record of a blob has no id"))?;
    let record = BlobRecord::from_value(value)?;
    if !origin.has(&record) {
        return Ok(Outcome::Elsewhere);
    }
    if landing.has(id, &record, choices.read_back).await? {
        return Ok(Outcome::Present);
    }
    let copied = match deliver(origin, landing, id, &record).await {
        Err(Failed::Target(error)) => return Err(error.into()),
        Err(Failed::Origin(error)) if is_lost(&error) => {
            return Ok(Outcome::Damaged(Damaged { blob: id, what: error.to_string() }));
        }
        Err(Failed::Origin(error)) => return Err(error),
        Ok(()) => Outcome::Copied(record.size),
    };
    match !choices.read_back || landing.has(id, &record, true).await? {
        true => Ok(copied),
        false => Err(Error::damaged(format!("blob {id} is not what was written"))),
    }
}

async fn deliver(
    origin: &dyn Origin,
    landing: &Landing,
    id: BlobId,
    record: &BlobRecord,
) -> Result<(), Failed> {
    let (mut chunks, mut writer) = (origin.bytes(id, record), landing.place.writer(id, []));
    while let Some(chunk) = chunks.next().await {
        match chunk {
            Ok(chunk) => writer.write(chunk).await.map_err(Failed::Target)?,
            Err(error) => {
                writer.abort().await;
                return Err(Failed::Origin(error));
            }
        }
    }
    let mut wrong = None;
    let finished = writer.finish_unless(|size, digests| {
        let found = fault(record, size, &digests.into());
        wrong = found.as_ref().map(ToString::to_string);
        found
    });
    match (finished.await, wrong) {
        (Err(_), Some(wrong)) => Err(Failed::Origin(Error::damaged(wrong))),
        (finished, _) => finished.map(drop).map_err(Failed::Target),
    }
}

impl Landing {
    /// Whether a blob is there: with its length, or if it is to be read with its digests.
    async fn has(&self, id: BlobId, record: &BlobRecord, read: bool) -> Result<bool> {
        if self.place.size(id).await? != Some(record.size) {
            return Ok(false);
        }
        if !read {
            return Ok(true);
        }
        match self.place.inspect(id, record.size).await {
            Ok((digests, _)) => Ok(fault(record, record.size, &(&digests).into()).is_none()),
            Err(BlobError::Damaged { .. } | BlobError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// What is wrong with bytes of this length and with these digests.
pub(crate) fn fault(record: &BlobRecord, size: u64, digests: &Digests) -> Option<Damage> {
    let length = Damage::Short { expected: record.size, actual: size };
    match size == record.size {
        true => damage_of(&record.digests, digests),
        false => Some(length),
    }
}

/// Whether an error says that bytes are lost, and not that they are out of reach.
fn is_lost(error: &Error) -> bool {
    let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref());
    error.kind() == ErrorKind::Damaged || cause.is_some_and(is_loss)
}

impl CopiedBlobs {
    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Elsewhere => self.elsewhere += 1,
            Outcome::Present => self.present += 1,
            Outcome::Copied(bytes) => {
                self.copied += 1;
                self.bytes += bytes;
            }
            Outcome::Damaged(damaged) => self.damaged.push(damaged),
        }
    }
}
