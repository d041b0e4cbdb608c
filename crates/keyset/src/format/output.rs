//! Combines small writes into large ones.

use std::io::{self, Write};

const FULL: usize = 256 << 10;

/// A buffer in front of a writer.
#[derive(Debug)]
pub(crate) struct Output<W> {
    out: W,
    buffer: Vec<u8>,
}

impl<W: Write> Output<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, buffer: Vec::with_capacity(FULL + FULL / 4) }
    }

    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    #[inline]
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    #[inline]
    pub(crate) fn flush_if_full(&mut self) -> io::Result<()> {
        if self.buffer.len() >= FULL { self.hand_on() } else { Ok(()) }
    }

    /// Writes bytes through if they are already many.
    pub(crate) fn pass_on(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() < FULL {
            self.put(bytes);
            return self.flush_if_full();
        }
        self.hand_on()?;
        self.out.write_all(bytes)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.hand_on()?;
        self.out.flush()
    }

    fn hand_on(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}
