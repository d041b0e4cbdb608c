//! Copies a chunk from another file, with no more of it in memory than the buffer.

use crate::entry::Entry;
use crate::error::Result;
use crate::source::Source;
use crate::storage::Storage;
use crate::writer::{Chunk, Writer};

/// Bytes of a large chunk that are copied at a time.
const PIECE: u64 = 1 << 20;

impl<F: Storage> Writer<F> {
    /// Adds a copy of a chunk to the current frame, under this name.
    pub(crate) fn copy_chunk(
        &mut self,
        source: &dyn Source,
        entry: &Entry,
        name: &[u8],
    ) -> Result<()> {
        if entry.byte_size() >= self.buffer_limit && entry.columns > 0 {
            return self.copy_large(source, entry, name);
        }
        let mut data = vec![0; entry.byte_size() as usize];
        source.read_at(entry.location, &mut data)?;
        let (kind, rows, columns) = (entry.kind, entry.rows, entry.columns);
        self.write_chunk(&Chunk { name, kind, rows, columns, data: &data })
    }

    fn copy_large(&mut self, source: &dyn Source, from: &Entry, name: &[u8]) -> Result<()> {
        self.ready()?;
        let entry = self.enter(name, from.kind, from.rows, from.columns)?;
        self.make_room(from.byte_size())?;
        let mut piece = Vec::new();
        for done in (0..from.byte_size()).step_by(PIECE as usize) {
            piece.resize(PIECE.min(from.byte_size() - done) as usize, 0);
            source.read_at(from.location + done, &mut piece)?;
            let at = entry.location + done;
            self.guarded(|storage| storage.write_at(at, &piece))?;
        }
        self.grew(from.byte_size());
        self.entries.push(entry);
        self.pending += 1;
        Ok(())
    }
}
