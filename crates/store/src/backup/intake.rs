//! A backup that arrives in a directory.
//!
//! Invariants: the file of the catalog has its name only once all of it was synced, after the blobs; a blob is there only with the
//! length and the digests of its record.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};

use cenote_blob::Error as BlobError;
use futures_util::{Stream, StreamExt, TryStreamExt};

use super::directory::{BackupDir, CatalogInfo, failed};
use super::frames::{Begin, End, Frame, FrameReader, MAGIC, damaged};
use crate::catalog::{BlobCopy, BlobRecord, Record, is_whole};
use crate::copy::{Tally, fault};
use crate::formats::FORMAT;
use crate::{BlobId, Error, ErrorKind, Result};

/// A backup that arrives.
#[derive(Debug)]
pub struct Intake<'a> {
    dir: &'a BackupDir,
    file: File,
    reader: FrameReader,
    tally: Tally,
    begin: Option<Begin>,
    /// Rows that are not what was written.
    damaged: u64,
}

/// A blob that a backup names.
#[derive(Debug, Clone)]
pub struct BackupBlob {
    /// Its id.
    pub id: BlobId,
    record: BlobRecord,
}

impl BackupBlob {
    /// Its length in bytes.
    pub fn size(&self) -> u64 {
        self.record.size
    }
}

impl<'a> Intake<'a> {
    /// Begins; what an interrupted backup left of its catalog is dropped, its blobs stay.
    pub fn begin(dir: &'a BackupDir) -> Result<Self> {
        let path = dir.new_file();
        let create = || {
            let mut file = File::create(&path)?;
            cenote_blob::make_file_private(&path)?;
            file.write_all(MAGIC)?;
            Ok(file)
        };
        let file = create().map_err(|error: io::Error| failed(&path, &error))?;
        let (reader, tally) = (FrameReader::default(), Tally::default());
        Ok(Self { dir, file, reader, tally, begin: None, damaged: 0 })
    }

    /// Takes the next bytes of the stream; returns whether all of the catalog has arrived. Blocks.
    pub fn push(&mut self, bytes: &[u8]) -> Result<bool> {
        self.reader.push(bytes);
        while let Some(frame) = self.reader.next_frame()? {
            if frame == Frame::Pause {
                continue;
            }
            let written = self.file.write_all(&frame.encode());
            written.map_err(|error| failed(&self.dir.new_file(), &error))?;
            if self.take(&frame)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn take(&mut self, frame: &Frame) -> Result<bool> {
        match (frame, &self.begin) {
            (Frame::Begin(begin), None) => {
                require_known(begin)?;
                self.begin = Some(begin.clone());
            }
            (Frame::Rows(rows), Some(_)) => {
                for (key, value) in rows {
                    self.tally.add(key, value);
                    self.damaged += u64::from(!is_whole(key, value));
                }
            }
            (Frame::End(end), Some(_)) if *end == End::of(&self.tally) => return Ok(true),
            _ => return Err(damaged()),
        }
        Ok(false)
    }

    /// How many rows there are, and how many of them are damaged.
    pub fn rows(&self) -> (u64, u64) {
        (self.tally.rows, self.damaged)
    }

    /// The blobs that the catalog names and that are not here yet, and how many are. Files that were registered are not among them.
    pub async fn missing(&self) -> Result<(Vec<BackupBlob>, u64)> {
        let there: HashMap<BlobId, u64> =
            self.dir.place.list().map_ok(|blob| (blob.id, blob.size)).try_collect().await?;
        let (mut missing, mut present) = (Vec::new(), 0);
        self.dir.blobs_in(&self.dir.new_file(), &mut |id, value| {
            // A record that is damaged was counted as a row.
            let Ok(record) = BlobRecord::from_value(value) else { return Ok(()) };
            match there.get(&id) {
                _ if !is_kept(&record) => {}
                Some(size) if *size == record.size => present += 1,
                _ => missing.push(BackupBlob { id, record }),
            }
            Ok(())
        })?;
        Ok((missing, present))
    }

    /// Stores a blob, unless its bytes are not those that the catalog names: then returns what is wrong.
    pub async fn put<S>(&self, blob: &BackupBlob, bytes: S) -> Result<Option<String>>
    where
        S: Stream<Item = Result<bytes::Bytes>>,
    {
        let mut bytes = std::pin::pin!(bytes);
        let mut writer = self.dir.place.writer(blob.id, []);
        while let Some(chunk) = bytes.next().await {
            match chunk {
                Ok(chunk) => writer.write(chunk).await?,
                Err(error) => {
                    writer.abort().await;
                    return Err(error);
                }
            }
        }
        let finished =
            writer.finish_unless(|size, digests| fault(&blob.record, size, &digests.into()));
        match finished.await {
            Ok(_) => Ok(None),
            Err(BlobError::Damaged { damage, .. }) => Ok(Some(damage.to_string())),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes the backup one of the directory.
    pub fn finish(self) -> Result<CatalogInfo> {
        let begin = self.begin.ok_or_else(damaged)?;
        self.file.sync_all().map_err(|error| failed(&self.dir.new_file(), &error))?;
        self.dir.keep(begin.taken)
    }

    /// Drops what has arrived of the catalog.
    pub fn abandon(self) {
        let _ = fs::remove_file(self.dir.new_file());
    }
}

/// Whether a place has the blob, and not only a file outside.
pub(super) fn is_kept(record: &BlobRecord) -> bool {
    record.copies.iter().any(|copy| matches!(copy, BlobCopy::Kept(_)))
}

/// Refuses a catalog of a later program.
pub(super) fn require_known(begin: &Begin) -> Result<()> {
    match begin.format <= FORMAT {
        true => Ok(()),
        false => {
            let message =
                format!("the backup has format {}, this program knows {FORMAT}", begin.format);
            Err(Error::new(ErrorKind::Unavailable, message).with_hint("use a newer cenote"))
        }
    }
}
