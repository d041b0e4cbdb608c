//! Sources of bytes to parse: a file in memory, or a stream.
//!
//! Invariant: a length in the file never determines how much is allocated; only bytes that are actually there do.

use std::io::{BufRead, Read};

use super::Fault;

/// A source of bytes.
pub(crate) trait Input {
    /// A range of bytes taken from it.
    type Bytes: AsRef<[u8]>;

    /// The number of bytes taken so far.
    fn offset(&self) -> u64;

    /// Takes one byte; `None` at the end.
    fn byte(&mut self) -> Result<Option<u8>, Box<Fault>>;

    /// Takes `len` bytes, or fewer at the end.
    fn up_to(&mut self, len: u64) -> Result<Self::Bytes, Box<Fault>>;

    /// Takes the bytes before the next LF, and the LF; `None` at the end.
    fn line(&mut self) -> Result<Option<Self::Bytes>, Box<Fault>>;

    /// The remaining bytes that are in memory.
    fn rest(&self) -> &[u8];

    /// The total number of bytes, if known.
    fn total(&self) -> Option<u64>;

    /// Takes exactly `len` bytes.
    #[inline]
    fn exactly(&mut self, len: u64) -> Result<Self::Bytes, Box<Fault>> {
        let bytes = self.up_to(len)?;
        if bytes.as_ref().len() as u64 == len {
            Ok(bytes)
        } else {
            Err(Box::new(Fault::UnexpectedEnd))
        }
    }

    /// Takes one byte, which must exist.
    #[inline]
    fn some_byte(&mut self) -> Result<u8, Box<Fault>> {
        self.byte()?.ok_or_else(|| Box::new(Fault::UnexpectedEnd))
    }
}

/// Bytes in memory, taken without copying.
pub(crate) struct SliceInput<'a> {
    rest: &'a [u8],
    total: u64,
}

impl<'a> SliceInput<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, total: bytes.len() as u64 }
    }

    fn split(&mut self, at: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(at);
        self.rest = rest;
        taken
    }
}

impl<'a> Input for SliceInput<'a> {
    type Bytes = &'a [u8];

    #[inline]
    fn offset(&self) -> u64 {
        self.total - self.rest.len() as u64
    }

    #[inline]
    fn byte(&mut self) -> Result<Option<u8>, Box<Fault>> {
        let Some((&byte, rest)) = self.rest.split_first() else { return Ok(None) };
        self.rest = rest;
        Ok(Some(byte))
    }

    #[inline]
    fn up_to(&mut self, len: u64) -> Result<&'a [u8], Box<Fault>> {
        Ok(self.split(len.min(self.rest.len() as u64) as usize))
    }

    fn line(&mut self) -> Result<Option<&'a [u8]>, Box<Fault>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let end = memchr::memchr(b'\n', self.rest);
        let line = self.split(end.unwrap_or(self.rest.len()));
        self.split(usize::from(end.is_some()));
        Ok(Some(line))
    }

    #[inline]
    fn rest(&self) -> &[u8] {
        self.rest
    }

    fn total(&self) -> Option<u64> {
        Some(self.total)
    }
}

/// Bytes from a stream, which are copied.
pub(crate) struct StreamInput<R> {
    reader: R,
    offset: u64,
}

impl<R: BufRead> StreamInput<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, offset: 0 }
    }
}

impl<R: BufRead> Input for StreamInput<R> {
    type Bytes = Vec<u8>;

    fn offset(&self) -> u64 {
        self.offset
    }

    fn byte(&mut self) -> Result<Option<u8>, Box<Fault>> {
        let byte = self.reader.fill_buf()?.first().copied();
        self.reader.consume(usize::from(byte.is_some()));
        self.offset += u64::from(byte.is_some());
        Ok(byte)
    }

    fn up_to(&mut self, len: u64) -> Result<Vec<u8>, Box<Fault>> {
        let mut bytes = Vec::new();
        self.offset += (&mut self.reader).take(len).read_to_end(&mut bytes)? as u64;
        Ok(bytes)
    }

    fn line(&mut self) -> Result<Option<Vec<u8>>, Box<Fault>> {
        let mut line = Vec::new();
        let read = self.reader.read_until(b'\n', &mut line)?;
        self.offset += read as u64;
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        Ok((read > 0).then_some(line))
    }

    fn rest(&self) -> &[u8] {
        &[]
    }

    fn total(&self) -> Option<u64> {
        None
    }
}
