//! Where a file is written: a real file, or memory.

use std::fs::File;
use std::io;

use crate::source::Source;

/// A source that can be written in place.
pub trait Storage: Source {
    /// Writes all of `bytes` at `offset`; bytes between the old end and `offset` become zero.
    ///
    /// # Errors
    /// When not all was written; what was is then unknown.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the storage to `size` bytes, or extends it with zeros.
    ///
    /// # Errors
    /// When the size could not be changed.
    fn set_size(&mut self, size: u64) -> io::Result<()>;

    /// Returns once everything written, and the size, will survive a loss of power.
    ///
    /// # Errors
    /// When that is not so; earlier writes may then be lost without a second notice.
    fn sync(&mut self) -> io::Result<()>;
}

impl Storage for File {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(self, bytes, offset)
    }

    fn set_size(&mut self, size: u64) -> io::Result<()> {
        self.set_len(size)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

impl Storage for Vec<u8> {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let end = start.checked_add(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        if self.len() < end {
            self.resize(end, 0);
        }
        self[start..end].copy_from_slice(bytes);
        Ok(())
    }

    fn set_size(&mut self, size: u64) -> io::Result<()> {
        self.resize(usize::try_from(size).map_err(|_| io::ErrorKind::FileTooLarge)?, 0);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}
