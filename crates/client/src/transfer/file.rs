//! Local files: their metadata, and their bytes in chunks.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::stream;
use http_body::{Frame, SizeHint};
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;

use super::Observer;
use crate::body::{self, Body};
use crate::{Error, Result, Sha256Digest, TransportError};

/// How much is read from a file at a time.
const CHUNK: u64 = 512 << 10;

/// The state of a local file when it was inspected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalFile {
    /// The path.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// Its mode bits, as in `st_mode & 0o7777`.
    pub mode: u32,
    /// When it was last modified, if that is in the range of timestamps.
    pub mtime: Option<Timestamp>,
}

impl LocalFile {
    /// Inspects a file, following links.
    ///
    /// # Errors
    /// [`Kind::NotFound`](crate::Kind::NotFound) and similar, with the path.
    pub fn new(path: &Path) -> Result<Self> {
        let metadata = path.metadata().map_err(|error| unreadable(path, error))?;
        Ok(Self::from_metadata(path.to_owned(), &metadata))
    }

    /// A file with the given metadata.
    pub fn from_metadata(path: PathBuf, metadata: &Metadata) -> Self {
        let mtime = Timestamp::new(metadata.mtime(), metadata.mtime_nsec() as i32).ok();
        Self { path, size: metadata.len(), mode: metadata.mode() & 0o7777, mtime }
    }

    /// The SHA-256 of its bytes; blocks.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn sha256(&self) -> Result<Sha256Digest> {
        let mut hasher = Sha256::new();
        let hashed = File::open(&self.path)
            .and_then(|mut file| each_chunk(&mut file, u64::MAX, |bytes| hasher.update(bytes)));
        hashed.map_err(|error| unreadable(&self.path, error))?;
        Ok(Sha256Digest::from_hasher(hasher))
    }

    /// All its bytes, if their number has not changed; blocks.
    pub(super) fn read(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.size as usize);
        File::open(&self.path)
            .and_then(|file| file.take(self.size + 1).read_to_end(&mut bytes))
            .map_err(|error| unreadable(&self.path, error))?;
        if bytes.len() as u64 != self.size {
            return Err(unreadable(&self.path, changed()));
        }
        Ok(bytes)
    }

    /// The bytes of a range; blocks.
    pub(super) fn read_part(&self, offset: u64, length: usize) -> Result<Vec<u8>> {
        // Reading to the end of a part does not fill its memory with zeros first.
        let mut bytes = Vec::with_capacity(length);
        File::open(&self.path)
            .and_then(|mut file| {
                file.seek(SeekFrom::Start(offset))?;
                file.take(length as u64).read_to_end(&mut bytes)
            })
            .map_err(|error| unreadable(&self.path, error))?;
        if bytes.len() != length {
            return Err(unreadable(&self.path, changed()));
        }
        Ok(bytes)
    }

    /// A body of all its bytes, read ahead by a thread.
    pub(super) fn body(&self, observer: Arc<dyn Observer>) -> Body {
        let (sender, receiver) = mpsc::channel(4);
        let (path, size) = (self.path.clone(), self.size);
        tokio::task::spawn_blocking(move || {
            if let Err(error) = send_chunks(&path, size, &sender, observer.as_ref()) {
                // The receiver is dropped if the request has failed; the error is reported there.
                let _ = sender.blocking_send(Err(error));
            }
        });
        let chunks = stream::unfold(receiver, |mut receiver| async {
            receiver.recv().await.map(|chunk| (chunk, receiver))
        });
        Body::new(Measured { body: body::stream(chunks), left: size })
    }
}

fn send_chunks(
    path: &Path,
    size: u64,
    sender: &mpsc::Sender<io::Result<Bytes>>,
    observer: &dyn Observer,
) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut left = size;
    while left > 0 {
        let length = left.min(CHUNK);
        let mut chunk = Vec::with_capacity(length as usize);
        if (&mut file).take(length).read_to_end(&mut chunk)? as u64 != length {
            return Err(changed());
        }
        left -= length;
        observer.moved(length);
        if sender.blocking_send(Ok(chunk.into())).is_err() {
            break;
        }
    }
    Ok(())
}

/// Reads at most `limit` bytes starting at the current position.
pub(super) fn each_chunk(
    file: &mut File,
    limit: u64,
    mut take: impl FnMut(&[u8]),
) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK.min(limit) as usize];
    let mut left = limit;
    while left > 0 {
        let want = left.min(CHUNK) as usize;
        match file.read(&mut buffer[..want])? {
            0 => break,
            length => {
                take(&buffer[..length]);
                left -= length as u64;
            }
        }
    }
    Ok(())
}

fn changed() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it changed while being read")
}

pub(super) fn unreadable(path: &Path, error: io::Error) -> Error {
    Error::local(format_args!("cannot read {}", path.display()), error)
}

pub(super) fn unwritable(path: &Path, error: io::Error) -> Error {
    Error::local(format_args!("cannot write {}", path.display()), error)
}

/// A body of known length, so that the request announces it.
struct Measured {
    body: Body,
    left: u64,
}

impl http_body::Body for Measured {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &frame {
            let length = frame.data_ref().map_or(0, Bytes::len) as u64;
            self.left = self.left.saturating_sub(length);
        }
        frame
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
