//! Bytes that follow each other.

use bytes::Bytes;

/// Bytes that follow each other, in parts that are not copied.
#[derive(Debug)]
pub(super) struct Run {
    offset: u64,
    length: u64,
    parts: Vec<Bytes>,
}

impl Run {
    pub(super) fn at(offset: u64) -> Self {
        Self { offset, length: 0, parts: Vec::new() }
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    pub(super) fn end(&self) -> u64 {
        self.offset + self.length
    }

    pub(super) fn push(&mut self, bytes: Bytes) {
        self.length += bytes.len() as u64;
        self.parts.push(bytes);
    }

    /// Its parts, with their offsets.
    pub(super) fn parts(self) -> impl Iterator<Item = (u64, Bytes)> {
        let mut offset = self.offset;
        self.parts.into_iter().map(move |part| {
            let at = offset;
            offset += part.len() as u64;
            (at, part)
        })
    }
}
