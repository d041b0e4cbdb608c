//! Copies a file without its unreferenced bytes.

use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::names::Names;
use crate::reader::Reader;
use crate::source::Source;
use crate::storage::Storage;
use crate::writer::Writer;

impl<S: Source> Reader<S> {
    /// Copies all frames into `storage` as a file of the current version.
    ///
    /// Outgrown blocks, lost data and unused names are not copied. `progress` is called after each frame with the
    /// number of frames done and in total. Frames without chunks keep their number.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if an index entry is invalid or lost, before anything is written: in a copy, a frame
    /// without the chunk would inherit that of frame 0. [`crate::recover`] copies what it can.
    pub fn repack<F: Storage>(&self, storage: F, mut progress: impl FnMut(u64, u64)) -> Result<F> {
        self.check_index()?;
        let name_bytes = self.names().iter().map(|name| name.len() as u64 + 1).sum();
        let room = self.chunks().max(self.frames());
        let header = self.header().emptied().with_room(room, name_bytes);
        let mut writer = Writer::create_with(storage, &header)?;
        for frame in 0..self.frames() {
            copy_frame(self.source(), self.names(), &self.frame(frame)?, &mut writer)?;
            progress(frame + 1, self.frames());
        }
        writer.close()
    }
}

/// Writes one frame with copies of these chunks.
fn copy_frame<F: Storage>(
    source: &dyn Source,
    names: &Names,
    entries: &[Entry],
    writer: &mut Writer<F>,
) -> Result<()> {
    for entry in entries {
        let name = names.get(entry.id).ok_or_else(|| {
            Error::corrupt(entry.location, format!("a chunk of the unknown name {}", entry.id))
        })?;
        writer.copy_chunk(source, entry, name)?;
    }
    writer.end_frame()
}
