//! Downloads an object by concurrent requests, one for each range.
//!
//! The partial file has its full size from the start; its content is followed by one byte per range, which is set
//! when the range is complete. An interrupted transfer continues with the others.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};

use super::download::{complete, open};
use super::file::{each_chunk, unwritable};
use super::verification::Verification;
use super::{Transfer, blocking};
use crate::{Error, ReadOptions, Resource, Result};

/// The mark of a complete range in the partial file.
const ARRIVED: u8 = 1;

/// A partial file, and which of its ranges are complete.
struct Partial<'a> {
    file: Arc<File>,
    path: &'a Path,
    resource: &'a Resource,
    size: u64,
    /// The size of a range in bytes.
    range: u64,
}

impl Transfer {
    /// Downloads all missing ranges to the file `partial`.
    pub(super) async fn get_ranges(
        &self,
        resource: &Resource,
        size: u64,
        partial: &Path,
    ) -> Result<()> {
        let range = self.options.range_size.get() as u64;
        let (path, expected, marks) = (partial.to_owned(), resource.clone(), size.div_ceil(range));
        let opened = blocking(move || begin(&path, &expected, size.saturating_add(marks))).await;
        let file = Arc::new(opened.map_err(|error| unwritable(partial, error))?);
        let partial = Partial { file, path: partial, resource, size, range };
        stream::iter(0..marks)
            .map(|index| self.get_range(&partial, index))
            .buffer_unordered(self.options.jobs.get())
            .try_for_each(|()| std::future::ready(Ok(())))
            .await?;
        partial.end(self.verification(resource)).await
    }

    async fn get_range(&self, partial: &Partial<'_>, index: u64) -> Result<()> {
        let offset = index * partial.range;
        let length = partial.range.min(partial.size - offset);
        if partial.has(index).await? {
            self.observer.moved(length);
            return Ok(());
        }
        let if_match = partial.resource.etag.clone();
        let options = ReadOptions { offset, length: Some(length), if_match, version: None };
        let mut chunks = self.read(partial.resource, &options).await?.into_stream();
        let mut at = offset;
        while let Some(chunk) = chunks.try_next().await? {
            let (from, moved) = (at, chunk.len() as u64);
            at += moved;
            if at > offset + length {
                return Err(Error::protocol("received more bytes than were requested"));
            }
            partial.write(chunk, from).await?;
            self.observer.moved(moved);
        }
        complete(partial.resource, partial.size - (offset + length - at))?;
        partial.write(bytes::Bytes::from_static(&[ARRIVED]), partial.size + index).await
    }
}

impl Partial<'_> {
    /// Whether an earlier run has completed this range.
    async fn has(&self, index: u64) -> Result<bool> {
        let (file, at) = (Arc::clone(&self.file), self.size + index);
        let read = blocking(move || {
            let mut mark = [0];
            file.read_exact_at(&mut mark, at).map(|()| mark == [ARRIVED])
        });
        read.await.map_err(|error| unwritable(self.path, error))
    }

    async fn write(&self, bytes: bytes::Bytes, at: u64) -> Result<()> {
        let file = Arc::clone(&self.file);
        let written = blocking(move || file.write_all_at(&bytes, at)).await;
        written.map_err(|error| unwritable(self.path, error))
    }

    /// Truncates the marks, and verifies the content.
    async fn end(self, verification: Option<Verification>) -> Result<()> {
        let (path, expected, size) = (self.path.to_owned(), self.resource.clone(), self.size);
        let ended = blocking(move || {
            let mut file = open(&path, &expected)?;
            file.set_len(size)?;
            let Some(mut verification) = verification else { return Ok(None) };
            each_chunk(&mut file, u64::MAX, |bytes| verification.update(bytes))?;
            Ok(Some(verification))
        });
        match ended.await.map_err(|error| unwritable(self.path, error))? {
            Some(verification) => verification.finish(&self.resource.path),
            None => Ok(()),
        }
    }
}

/// Opens the partial file, which including its marks is `full` bytes long: that of an earlier run, or a new one.
fn begin(path: &Path, resource: &Resource, full: u64) -> io::Result<File> {
    let file = open(path, resource)?;
    if file.metadata()?.len() != full {
        file.set_len(0)?;
        file.set_len(full)?;
    }
    Ok(file)
}
