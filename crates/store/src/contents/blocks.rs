//! Checksums of the blocks of blobs, in rows of their own, so that a range of a blob is checked without reading those of
//! all of it.
//!
//! Invariant: they are written and removed with the blob's record, and are those of the received bytes.

use std::ops::Range;

use cenote_blob::Blocks;

use crate::catalog::{BlobRecord, Reads, Record, SumsRecord, Transaction, keys};
use crate::model::Digests;
use crate::{BlobId, Error, Result, Store};

/// Blocks of which one row has the checksums: 16 MiB of a blob, in some 2 KiB.
const GROUP: u64 = 256;

/// The number of rows to read at once.
const AT_ONCE: u32 = 64;

/// Writes the checksums of a blob; returns the size of the blocks, to be recorded. One block needs no row.
pub(super) fn put_sums(tx: &mut Transaction, id: BlobId, blocks: &Blocks) -> Option<u64> {
    let sums = blocks.sums();
    if sums.len() <= 2 {
        return None;
    }
    for (group, start) in (0..sums.len() - 1).step_by(GROUP as usize).enumerate() {
        let end = sums.len().min(start + GROUP as usize + 1);
        tx.put(keys::sums(id, group as u32), &SumsRecord::new(&sums[start..end]));
    }
    Some(blocks.block())
}

/// Removes the record of a blob, and the checksums of its blocks.
pub(crate) fn delete_blob(tx: &mut Transaction, id: BlobId, record: &BlobRecord) {
    let groups = record.block.map_or(0, |block| groups(record.size, block));
    (0..groups).for_each(|group| tx.delete(keys::sums(id, group)));
    tx.delete(keys::blob(id));
}

/// How many rows the checksums of a blob take.
pub(crate) fn groups(size: u64, block: u64) -> u32 {
    u32::try_from(size.div_ceil(block.saturating_mul(GROUP).max(1))).unwrap_or(u32::MAX)
}

/// The checksums of the blocks of a range of a blob, or for a long range of the first of them. None if they are
/// not known yet.
///
/// # Errors
/// [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) if the blob should have them and they cannot be read.
pub(super) fn blocks(
    reads: &impl Reads,
    id: BlobId,
    record: &BlobRecord,
    range: &Range<u64>,
) -> Result<Option<Blocks>> {
    some_blocks(reads, id, record, range, AT_ONCE)
}

fn some_blocks(
    reads: &impl Reads,
    id: BlobId,
    record: &BlobRecord,
    range: &Range<u64>,
    most: u32,
) -> Result<Option<Blocks>> {
    let Some(block) = record.block else {
        let crc = record.digests.crc64nvme;
        return Ok(crc.and_then(|crc| Blocks::of_one(record.size, crc)));
    };
    let covered = block.saturating_mul(GROUP).max(1);
    let first = u32::try_from(range.start / covered).map_err(|_| missing(id))?;
    let last = u32::try_from(range.end.div_ceil(covered)).unwrap_or(u32::MAX);
    let groups = first..last.min(first.saturating_add(most)).max(first.saturating_add(1));
    let rows = reads.rows(&keys::some_sums(id, groups.clone()), groups.len())?;
    let mut sums: Vec<u64> = Vec::new();
    for (group, (key, value)) in groups.clone().zip(&rows) {
        let row: Vec<u64> = SumsRecord::from_value(value)?.sums().collect();
        if *key != keys::sums(id, group) || !join(&mut sums, &row) {
            return Err(missing(id));
        }
    }
    let end = u64::from(groups.end).saturating_mul(covered).min(record.size);
    let found = Blocks::new(block, record.size, u64::from(first) * GROUP, sums);
    let all = found.filter(|found| found.range() == (u64::from(first) * covered..end));
    all.map(Some).ok_or_else(|| missing(id))
}

/// All checksums of the blocks of a blob; none if they are not known yet.
pub(crate) fn all_blocks(
    reads: &impl Reads,
    id: BlobId,
    record: &BlobRecord,
) -> Result<Option<Blocks>> {
    some_blocks(reads, id, record, &(0..record.size), u32::MAX)
}

/// Appends a row, which begins with what the one before it ends with; returns whether it does.
fn join(sums: &mut Vec<u64>, row: &[u64]) -> bool {
    let fits = sums.last().is_none_or(|last| Some(last) == row.first());
    sums.extend(&row[usize::from(!sums.is_empty()).min(row.len())..]);
    fits
}

impl Store {
    /// Computes the checksums of a blob's blocks if they are not known or lost, from the first copy that is what it should be. One
    /// of which no digest is known is taken as it is.
    pub(crate) async fn sum_blob(&self, id: BlobId) -> Result<()> {
        let Some(record) = self.view()?.get::<BlobRecord>(&keys::blob(id))? else { return Ok(()) };
        if let Ok(Some(_)) = all_blocks(&self.view()?, id, &record) {
            return Ok(());
        }
        let (known, mut fault) = (self.known(), None);
        for source in record.copies.iter().filter_map(|copy| self.source(&known, copy)) {
            match source.check(id, &record).await {
                Ok((digests, blocks)) => {
                    return self.note_blocks(id, &digests, &blocks).await.map(drop);
                }
                Err(error) => {
                    source.blame(id, &error, &self.inner.damage);
                    fault = fault.or(Some(Error::from(error)));
                }
            }
        }
        fault.map_or(Ok(()), Err)
    }

    /// Rewrites the checksums of a blob's blocks, and its digests if they were not known; returns whether it
    /// still exists. The bytes must have been compared with their known digests.
    pub(crate) async fn note_blocks(
        &self,
        id: BlobId,
        digests: &Digests,
        blocks: &Blocks,
    ) -> Result<bool> {
        let (digests, blocks) = (digests.clone(), blocks.clone());
        self.blocking(move |store| {
            store.transact(|tx| {
                let Some(record) = tx.get::<BlobRecord>(&keys::blob(id))? else {
                    return Ok(false);
                };
                if digests.contradict(&record.digests) || record.size != blocks.range().end {
                    return Ok(false);
                }
                delete_blob(tx, id, &record);
                let block = put_sums(tx, id, &blocks);
                let digests = record.digests.or(&digests);
                tx.put(keys::blob(id), &BlobRecord { block, digests, ..record });
                Ok(true)
            })
        })
        .await
    }
}

fn missing(id: BlobId) -> Error {
    Error::damaged(format!("the checksums of blob {id} are missing"))
}
