//! Where a file is written: a real file, or memory.

use std::fs::File;
use std::io;
use std::ops::Range;

use crate::source::Source;

/// A source that can be written in place.
pub trait Storage: Source {
    /// Writes all of `bytes` at `offset`; bytes between the old end and `offset` become zero.
    ///
    /// # Errors
    /// If not everything was written; what was is then unknown.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Truncates the storage to `size` bytes, or extends it with zeros.
    ///
    /// # Errors
    /// If the size could not be changed.
    fn set_size(&mut self, size: u64) -> io::Result<()>;

    /// Lets the disk start writing these bytes, so that [`Storage::sync`] takes less time.
    ///
    /// Guarantees nothing, and does nothing unless that is useful.
    fn begin_sync(&mut self, _bytes: Range<u64>) {}

    /// Returns once everything written, and the size, will survive a power failure.
    ///
    /// # Errors
    /// If that cannot be guaranteed; earlier writes may then be lost without further notice.
    fn sync(&mut self) -> io::Result<()>;
}

impl Storage for File {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(self, bytes, offset)
    }

    fn set_size(&mut self, size: u64) -> io::Result<()> {
        self.set_len(size)
    }

    #[cfg(target_os = "linux")]
    #[expect(unsafe_code, reason = "a system call that no safe library has")]
    fn begin_sync(&mut self, bytes: Range<u64>) {
        use std::os::fd::AsRawFd;
        let (start, length) = (bytes.start as i64, (bytes.end - bytes.start) as i64);
        // SAFETY: no memory is passed, and the descriptor is that of an open file. An error only means that the disk
        // has not started.
        unsafe {
            libc::sync_file_range(self.as_raw_fd(), start, length, libc::SYNC_FILE_RANGE_WRITE);
        }
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
