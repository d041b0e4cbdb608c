//! Commits buffered chunks, in an order that keeps the file intact at every step.

use crate::entry::{ENTRY_SIZE, RawEntry};
use crate::error::Result;
use crate::index::Index;
use crate::storage::Storage;
use crate::writer::{Writer, sort};

/// Bytes copied at a time when the index moves.
const COPY: u64 = 1 << 20;

impl<F: Storage> Writer<F> {
    /// Makes all ended frames durable and visible: data, names, sync, index, sync.
    ///
    /// Chunks of the unfinished frame are written, too, but not added to the index.
    ///
    /// # Errors
    /// [`crate::Error::Io`]; the frames of earlier flushes are safe.
    pub fn flush(&mut self) -> Result<()> {
        self.ready()?;
        self.write_buffer()?;
        self.commit_names()?;
        self.guarded(Storage::sync)?;
        if self.entries.len() > self.pending {
            self.commit_entries()?;
        }
        self.reader.frames = self.frame;
        Ok(())
    }

    pub(super) fn write_buffer(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.buffer);
        let end = self.reader.size;
        self.guarded(|storage| storage.write_at(end, &bytes))?;
        self.grew(bytes.len() as u64);
        self.buffer = bytes;
        self.buffer.clear();
        Ok(())
    }

    fn commit_names(&mut self) -> Result<()> {
        if !self.reader.names.has_uncommitted() {
            return Ok(());
        }
        let block = self.reader.names.pending_block();
        let location =
            if block.moved { self.reader.size } else { self.reader.header.names_location };
        let at = location + block.offset;
        self.guarded(|storage| storage.write_at(at, &block.bytes))?;
        if block.moved {
            self.guarded(Storage::sync)?;
            self.reader.size += block.bytes.len() as u64;
            self.reader.header.names_location = location;
            self.reader.header.names_allocated = block.cells();
            self.write_header()?;
        }
        self.reader.names.commit(&block);
        Ok(())
    }

    fn commit_entries(&mut self) -> Result<()> {
        sort::by_key(&mut self.entries);
        let ready = self.entries.len() - self.pending;
        let used = self.reader.index.len();
        let (needed, last_frame) = (used + ready as u64, self.entries[ready - 1].frame);
        self.reserve_index(needed, last_frame)?;
        let location = self.reader.header.index_location;
        let at = location + used * ENTRY_SIZE as u64;
        let bytes: Vec<u8> = self.entries[..ready].iter().flat_map(RawEntry::encode).collect();
        self.guarded(|storage| storage.write_at(at, &bytes))?;
        self.guarded(Storage::sync)?;
        self.reader.index = Index::new(&self.reader.source, location, needed, last_frame);
        self.entries.drain(..ready);
        Ok(())
    }

    /// Makes room for `needed` entries and for frame numbers up to `last_frame`.
    ///
    /// The latter is not in the reference, which after 127 empty frames writes a file that it then considers corrupt.
    fn reserve_index(&mut self, needed: u64, last_frame: u64) -> Result<()> {
        let allocated = self.reader.header.index_allocated;
        if needed <= allocated && last_frame < allocated {
            return Ok(());
        }
        let mut new = allocated.max(1) * 2;
        while new <= needed.max(last_frame) {
            new *= 2;
        }
        self.move_index(new)
    }

    /// Copies the index to a zeroed block of `allocated` entries at the end of the file.
    ///
    /// The old block stays unchanged: a reader that has the file open continues to use it.
    fn move_index(&mut self, allocated: u64) -> Result<()> {
        let (old, new) = (self.reader.header.index_location, self.reader.size);
        let end = new + allocated * ENTRY_SIZE as u64;
        self.guarded(|storage| storage.set_size(end))?;
        let used = self.reader.index.len() * ENTRY_SIZE as u64;
        for at in (0..used).step_by(COPY as usize) {
            let mut bytes = vec![0; COPY.min(used - at) as usize];
            self.reader.source.read_at(old + at, &mut bytes)?;
            self.guarded(|storage| storage.write_at(new + at, &bytes))?;
        }
        self.guarded(Storage::sync)?;
        self.reader.size = end;
        self.reader.header.index_location = new;
        self.reader.header.index_allocated = allocated;
        self.write_header()?;
        self.guarded(Storage::sync)
    }
}
