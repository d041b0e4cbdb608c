//! Writing chunks and frames.
//!
//! Invariants:
//! - Data is on disk before the index entry that refers to it, and a new index or name list block
//!   before the header that refers to it; so a file can always be opened with the frames of its
//!   last completed [`Writer::flush`], whatever stopped the writer.
//! - The bytes are those of the reference implementation, 5.0.1, for the same calls.
//! - After a failed write or sync, nothing more is written ([`Error::Latched`]).

mod copy;
mod flush;
mod open;
mod sort;
mod upgrade;

use std::fs::File;

use self::open::write_fresh;
use crate::chunk_type::ChunkType;
use crate::entry::{RawEntry, byte_size};
use crate::error::{Error, Result};
use crate::reader::Reader;
use crate::storage::Storage;

/// Bytes of chunk data buffered in memory before they are written, unless set otherwise.
const DEFAULT_BUFFER: u64 = 1 << 20;
/// Bytes of data after which the kernel is asked to start writing them.
const WRITE_BACK: u64 = 8 << 20;

/// A chunk to write: `rows` x `columns` elements of `kind`, row by row.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// The name, without NUL; in a version 1 file only its first 63 bytes are kept.
    pub name: &'a [u8],
    /// The type of the elements.
    pub kind: ChunkType,
    /// Rows (N); may be 0.
    pub rows: u64,
    /// Columns (M); at least 1.
    pub columns: u32,
    /// The elements, little-endian.
    pub data: &'a [u8],
}

/// A GSD file open for reading and writing.
///
/// Dropping a writer does not flush: call [`Writer::close`].
#[derive(Debug)]
pub struct Writer<F = File> {
    reader: Reader<F>,
    buffer: Vec<u8>,
    buffer_limit: u64,
    /// Entries that are not in the index yet; the last `pending` belong to the unfinished frame.
    entries: Vec<RawEntry>,
    pending: usize,
    frame: u64,
    failed: bool,
    /// The offset up to which writing to disk has been initiated.
    begun: u64,
}

impl<F: Storage> Writer<F> {
    /// The content of the file as of the last flush.
    #[must_use]
    pub fn reader(&self) -> &Reader<F> {
        &self.reader
    }

    /// Bytes of chunk data that may be buffered. A chunk of this size or more is never buffered.
    #[must_use]
    pub fn buffer_limit(&self) -> u64 {
        self.buffer_limit
    }

    /// Sets [`Writer::buffer_limit`].
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for 0.
    pub fn set_buffer_limit(&mut self, bytes: u64) -> Result<()> {
        if bytes == 0 {
            return Err(Error::InvalidArgument("the write buffer needs at least one byte"));
        }
        self.buffer_limit = bytes;
        Ok(())
    }

    /// Adds a chunk to the current frame.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no columns or data whose size does not match the shape,
    /// [`Error::NameListFull`], [`Error::Io`].
    pub fn write_chunk(&mut self, chunk: &Chunk<'_>) -> Result<()> {
        self.ready()?;
        if chunk.columns == 0 {
            return Err(Error::InvalidArgument("a chunk needs at least one column"));
        }
        let size = chunk.data.len() as u64;
        if byte_size(chunk.rows, chunk.columns, chunk.kind) != Some(size) {
            return Err(Error::InvalidArgument("the data does not have the size of the shape"));
        }
        let entry = self.enter(chunk.name, chunk.kind, chunk.rows, chunk.columns)?;
        self.make_room(size)?;
        self.place(chunk.data)?;
        self.entries.push(entry);
        self.pending += 1;
        Ok(())
    }

    /// The entry for the next chunk.
    fn enter(&mut self, name: &[u8], kind: ChunkType, rows: u64, columns: u32) -> Result<RawEntry> {
        Ok(RawEntry {
            frame: self.frame,
            rows,
            location: self.reader.size + self.buffer.len() as u64,
            columns,
            id: self.reader.names.intern(name)?,
            kind: kind.number(),
            flags: 0,
        })
    }

    fn make_room(&mut self, size: u64) -> Result<()> {
        if size > self.buffer_limit.saturating_sub(self.buffer.len() as u64) {
            self.write_buffer()?;
        }
        Ok(())
    }

    fn place(&mut self, data: &[u8]) -> Result<()> {
        if (data.len() as u64) < self.buffer_limit {
            self.buffer.extend_from_slice(data);
            return Ok(());
        }
        let end = self.reader.size;
        self.guarded(|storage| storage.write_at(end, data))?;
        self.grew(data.len() as u64);
        Ok(())
    }

    /// `bytes` of data were appended.
    fn grew(&mut self, bytes: u64) {
        self.reader.size += bytes;
        if self.reader.size - self.begun >= WRITE_BACK {
            self.reader.source.begin_sync(self.begun..self.reader.size);
            self.begun = self.reader.size;
        }
    }

    /// Ends the current frame. It becomes visible, and safe, with the next flush.
    ///
    /// # Errors
    /// [`Error::Latched`].
    pub fn end_frame(&mut self) -> Result<()> {
        self.ready()?;
        self.frame += 1;
        self.pending = 0;
        Ok(())
    }

    /// Flushes and returns the storage. Chunks of an unfinished frame are dropped.
    ///
    /// # Errors
    /// As [`Writer::flush`].
    pub fn close(mut self) -> Result<F> {
        self.flush()?;
        Ok(self.reader.source)
    }

    /// Removes all frames and names, keeping application and schema.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn truncate(&mut self) -> Result<()> {
        self.ready()?;
        let header = self.reader.header.emptied();
        self.guarded(|storage| write_fresh(storage, &header))?;
        self.guarded(Storage::sync)?;
        self.reader.reset(header);
        self.buffer.clear();
        self.entries.clear();
        self.pending = 0;
        self.frame = 0;
        self.begun = self.reader.size;
        self.buffer_limit = DEFAULT_BUFFER;
        Ok(())
    }

    fn ready(&self) -> Result<()> {
        if self.failed { Err(Error::Latched) } else { Ok(()) }
    }

    /// Runs a write; after a failure, the file is not written to again.
    fn guarded(&mut self, write: impl FnOnce(&mut F) -> std::io::Result<()>) -> Result<()> {
        let done = write(&mut self.reader.source);
        self.failed |= done.is_err();
        Ok(done?)
    }

    fn write_header(&mut self) -> Result<()> {
        let header = self.reader.header.encode();
        self.guarded(|storage| storage.write_at(0, &header))
    }
}
