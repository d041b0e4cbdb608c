//! Contents on a disk of this machine, read from there and not through the server.
//!
//! Invariant: a file of the store is opened only during a lease; an open file keeps its bytes, since the store never
//! writes to the file of a content again.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use cenote_client::{At, LocalBytes};

use crate::source::{Place, Source};

/// Smaller contents are in the catalog.
const SMALLEST: u64 = 64 << 10;
/// How many contents are kept open.
const OPEN: usize = 256;
/// The duration of a lease that is only needed to open files.
const SECONDS: u32 = 60;

/// The contents that are open.
#[derive(Debug, Default)]
pub(crate) struct LocalFiles {
    open: Mutex<HashMap<(u64, String), Arc<LocalFile>>>,
    /// The server does not lease files to this client.
    refused: AtomicBool,
}

/// A content whose bytes are all in files of this machine.
#[derive(Debug)]
pub(crate) struct LocalFile {
    pieces: Vec<Piece>,
    size: u64,
}

#[derive(Debug)]
struct Piece {
    offset: u64,
    length: u64,
    /// The file and the offset of the piece in it; zeros without a file.
    file: Option<(Arc<File>, u64)>,
}

impl LocalFiles {
    /// The local file of a content, if it has one.
    pub(crate) async fn open(
        &self,
        source: &Source,
        place: &Place,
        (etag, size): (&str, u64),
    ) -> Option<Arc<LocalFile>> {
        if size <= SMALLEST || self.refused.load(Ordering::Relaxed) || source.is_past() {
            return None;
        }
        let key = (place.id, etag.to_owned());
        if let Some(file) = self.lock().get(&key) {
            return Some(Arc::clone(file));
        }
        let file = Arc::new(self.lease(source, place, (etag, size)).await?);
        let mut open = self.lock();
        if open.len() >= OPEN {
            open.clear();
        }
        open.insert(key, Arc::clone(&file));
        Some(file)
    }

    async fn lease(
        &self,
        source: &Source,
        place: &Place,
        (etag, size): (&str, u64),
    ) -> Option<LocalFile> {
        let lease = match source.within(source.client.lease(&At::Id(place.id), SECONDS)).await {
            Ok(lease) => lease,
            Err(fault) => {
                let refused = fault.errno == libc::EACCES;
                self.refused.fetch_or(refused, Ordering::Relaxed);
                return None;
            }
        };
        let pieces: Option<Vec<Piece>> = match lease.etag == etag && lease.size == size {
            true => lease.pieces.iter().map(Piece::open).collect(),
            false => None,
        };
        // Open files need no lease; one that cannot be ended expires.
        let _ends_itself = source.within(source.client.end_lease(&lease.lease)).await;
        Some(LocalFile { pieces: pieces?, size })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(u64, String), Arc<LocalFile>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Piece {
    /// Opens the file of a piece; `None` if the piece is read through the server, or the file cannot be read here.
    fn open(piece: &cenote_client::LocalPiece) -> Option<Self> {
        let (offset, length) = (piece.offset, piece.length);
        let file = match &piece.bytes {
            LocalBytes::Zeros => None,
            LocalBytes::Server => return None,
            LocalBytes::File { file, start } => {
                let opened = File::open(file).ok()?;
                // A file that is too short is read through the server, which repairs it.
                let is_whole = opened.metadata().ok()?.len() >= start + length;
                Some((Arc::new(opened), *start)).filter(|_| is_whole).map(Some)?
            }
        };
        Some(Self { offset, length, file })
    }

    fn read(&self, range: &Range<u64>, into: &mut BytesMut) -> std::io::Result<()> {
        let from = range.start.max(self.offset);
        let to = range.end.min(self.offset + self.length);
        let at = into.len();
        into.resize(at + (to - from) as usize, 0);
        match &self.file {
            Some((file, start)) => file.read_exact_at(&mut into[at..], start + from - self.offset),
            None => Ok(()),
        }
    }
}

impl LocalFile {
    /// A content that is one file.
    pub(crate) fn of(file: Arc<File>, size: u64) -> Self {
        Self { pieces: vec![Piece { offset: 0, length: size, file: Some((file, 0)) }], size }
    }

    /// The bytes of a range, as far as the content reaches.
    pub(crate) fn read(&self, offset: u64, length: u32) -> std::io::Result<Bytes> {
        let range = offset..self.size.min(offset.saturating_add(length.into()));
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let mut bytes = BytesMut::with_capacity((range.end - range.start) as usize);
        let meets =
            |piece: &&Piece| piece.offset < range.end && range.start < piece.offset + piece.length;
        for piece in self.pieces.iter().filter(meets) {
            piece.read(&range, &mut bytes)?;
        }
        Ok(bytes.freeze())
    }

    /// The one file that is the whole content, if there is one.
    pub(crate) fn whole(&self) -> Option<&File> {
        match self.pieces.as_slice() {
            [Piece { offset: 0, length, file: Some((file, 0)) }] if *length == self.size => {
                let exact = file.metadata().is_ok_and(|about| about.len() == self.size);
                exact.then(|| &**file)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn extents_are_read_as_one_content() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let piece = |offset, length, file: Option<(File, u64)>| {
            let file = file.map(|(file, start)| (Arc::new(file), start));
            Piece { offset, length, file }
        };
        let pieces = vec![
            piece(0, 4, Some((file.try_clone().unwrap(), 2))),
            piece(4, 3, None),
            piece(7, 5, Some((file, 5))),
        ];
        let (local, whole) = (LocalFile { pieces, size: 12 }, b"2345\x00\x00\x0056789");
        for start in 0..=13_usize {
            for length in 0..=13_usize {
                let read = local.read(start as u64, length as u32).unwrap();
                let end = (start + length).min(12);
                assert_eq!(read, whole[start.min(end)..end], "{start} {length}");
            }
        }
        assert!(local.whole().is_none());
    }
}
