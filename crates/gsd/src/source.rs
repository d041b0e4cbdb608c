//! Where bytes are read from: a file, memory, an object in a store, a server.

use std::fs::File;
use std::io::{self, IoSliceMut};
use std::sync::Arc;

/// A source of byte ranges. Reads may come from several threads at once.
pub trait Source: Send + Sync {
    /// The number of bytes currently available.
    ///
    /// # Errors
    /// If the length cannot be determined.
    fn size(&self) -> io::Result<u64>;

    /// Fills `buffer` with the bytes starting at `offset`.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] if the source ends before the buffer is full.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Fills several buffers, one after the other, starting at `offset`.
    ///
    /// # Errors
    /// As [`Source::read_at`].
    fn read_vectored_at(&self, offset: u64, buffers: &mut [IoSliceMut<'_>]) -> io::Result<()> {
        let mut at = offset;
        for buffer in buffers {
            self.read_at(at, buffer)?;
            at += buffer.len() as u64;
        }
        Ok(())
    }

    /// How many unneeded bytes it is worth reading to save one request.
    ///
    /// Two chunks closer than this are fetched by one read. The default suits a local file.
    fn request_cost(&self) -> u64 {
        4096
    }
}

impl Source for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buffer, offset)
    }

    fn read_vectored_at(&self, offset: u64, buffers: &mut [IoSliceMut<'_>]) -> io::Result<()> {
        let wanted: usize = buffers.iter().map(|buffer| buffer.len()).sum();
        // If anything is in doubt (a signal, a short read, more buffers than one call takes), plain reads are used
        // instead, which retry and report.
        if rustix::io::preadv(self, buffers, offset).is_ok_and(|got| got == wanted) {
            return Ok(());
        }
        let mut at = offset;
        for buffer in buffers {
            self.read_at(at, buffer)?;
            at += buffer.len() as u64;
        }
        Ok(())
    }
}

impl Source for [u8] {
    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let found = usize::try_from(offset)
            .ok()
            .and_then(|start| self.get(start..)?.get(..buffer.len()))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(found);
        Ok(())
    }
}

impl Source for Vec<u8> {
    fn size(&self) -> io::Result<u64> {
        self.as_slice().size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.as_slice().read_at(offset, buffer)
    }
}

macro_rules! forward_source {
    ($($pointer:ty),*) => {$(
        impl<S: Source + ?Sized> Source for $pointer {
            fn size(&self) -> io::Result<u64> {
                (**self).size()
            }

            fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
                (**self).read_at(offset, buffer)
            }

            fn read_vectored_at(
                &self,
                offset: u64,
                buffers: &mut [IoSliceMut<'_>],
            ) -> io::Result<()> {
                (**self).read_vectored_at(offset, buffers)
            }

            fn request_cost(&self) -> u64 {
                (**self).request_cost()
            }
        }
    )*};
}

forward_source!(&S, Box<S>, Arc<S>);
