//! Reading all of a backup, to find damage before it is needed.

use std::collections::HashSet;

use super::directory::{BackupDir, CatalogInfo};
use super::frames::{End, Frame, damaged};
use super::intake::is_kept;
use crate::catalog::{BlobRecord, Record, is_whole, keys};
use crate::copy::{CopyProgress, Tally, Watch, fault};
use crate::{BlobId, Error, ErrorKind, Result};

/// Something in a directory of backups that is not what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupFault {
    /// The catalog by its name, or a blob by its id.
    pub what: String,
    /// What was found, in a sentence.
    pub detail: String,
}

/// What was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Verified {
    /// Rows of catalogs.
    pub rows: u64,
    /// Blobs.
    pub blobs: u64,
    /// Bytes of blobs.
    pub bytes: u64,
}

impl BackupDir {
    /// Reads the catalogs with these names, or all, and each blob that they name once; passes on what is wrong.
    pub async fn verify(
        &self,
        catalogs: &[CatalogInfo],
        watch: &Watch,
        report: &mut dyn FnMut(BackupFault),
    ) -> Result<Verified> {
        let (mut verified, mut seen) = (Verified::default(), HashSet::new());
        for catalog in catalogs {
            let mut named = Vec::new();
            let read = self.verify_rows(catalog, &mut named, &mut verified, watch);
            unless_lost(read, &catalog.name, report)?;
            named.retain(|(id, _)| seen.insert(*id));
            for (id, record) in named {
                verified.blobs += 1;
                verified.bytes += record.size;
                let read = self.verify_blob(id, &record).await;
                unless_lost(read, &id.to_string(), report)?;
                watch(CopyProgress::Blobs(verified.blobs, verified.bytes));
            }
        }
        Ok(verified)
    }

    fn verify_rows(
        &self,
        catalog: &CatalogInfo,
        named: &mut Vec<(BlobId, BlobRecord)>,
        verified: &mut Verified,
        watch: &Watch,
    ) -> Result<()> {
        let (mut tally, mut bad, mut total) = (Tally::default(), 0, None);
        self.frames(&self.file(&catalog.name), &mut |frame| {
            match frame {
                Frame::Rows(rows) => {
                    for (key, value) in rows {
                        tally.add(key, value);
                        bad += u64::from(!is_whole(key, value));
                        named.extend(blob(key, value));
                    }
                }
                Frame::End(end) => total = Some(end.clone()),
                Frame::Begin(_) | Frame::Pause => {}
            }
            watch(CopyProgress::Rows(tally.rows, tally.bytes));
            Ok(true)
        })?;
        verified.rows += tally.rows;
        match total == Some(End::of(&tally)) {
            _ if bad > 0 => Err(Error::damaged(format!("{bad} rows were damaged in the store"))),
            true => Ok(()),
            false => Err(damaged()),
        }
    }

    async fn verify_blob(&self, id: BlobId, record: &BlobRecord) -> Result<()> {
        let (digests, _) = self.place.inspect(id, record.size).await?;
        let size = self.place.size(id).await?.unwrap_or_default();
        match fault(record, size, &(&digests).into()) {
            None => Ok(()),
            Some(damage) => Err(Error::damaged(damage.to_string())),
        }
    }

    /// Removes blobs that were found damaged, so that the next backup brings them again.
    pub async fn remove_damaged(&self, faults: &[BackupFault]) -> Result<()> {
        for blob in faults.iter().filter_map(|fault| fault.what.parse::<BlobId>().ok()) {
            self.place.delete(blob).await?;
        }
        Ok(())
    }
}

/// The blob of a row, if it is a record of one.
fn blob(key: &[u8], value: &[u8]) -> Option<(BlobId, BlobRecord)> {
    let id = keys::blobs().contains(key).then(|| keys::blob_id(key))?;
    Some((id?, BlobRecord::from_value(value).ok().filter(is_kept)?))
}

/// Passes damage on.
fn unless_lost(read: Result<()>, what: &str, report: &mut dyn FnMut(BackupFault)) -> Result<()> {
    match read {
        Err(error) if error.kind() == ErrorKind::Damaged => {
            report(BackupFault { what: what.to_owned(), detail: error.to_string() });
            Ok(())
        }
        read => read,
    }
}
