//! How much of a tar archive may lie between one file and the next: headers, which are read into memory.
//!
//! Invariant: the names and records of an entry take at most [`LONGEST`] bytes of memory, before anything of them is looked
//! at. The bytes of files are not counted here: they go elsewhere as they come.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio_tar::Entry;

/// Bytes of all headers of an entry, the records of pax and long names of GNU tar among them.
const LONGEST: u64 = 1 << 20;
/// A tar archive consists of blocks of this many bytes.
const BLOCK: u64 = 512;

/// How far an archive has been read, and may be read now.
#[derive(Debug, Clone, Default)]
pub(crate) struct Position(Arc<Marks>);

#[derive(Debug, Default)]
struct Marks {
    read: AtomicU64,
    most: AtomicU64,
}

impl Position {
    /// The bytes of an archive, which end with an error where a header is too long.
    pub(crate) fn counting<R>(&self, bytes: R) -> Counting<R> {
        self.at_header(0);
        Counting { bytes, position: self.clone() }
    }

    /// What comes next is the rest of a file of this many bytes, and then a header.
    pub(crate) fn at_header(&self, file: u64) {
        let end = self.0.read.load(Ordering::Relaxed).saturating_add(file);
        self.0.most.store(end.saturating_add(LONGEST), Ordering::Relaxed);
    }
}

/// The bytes that an entry takes in the archive after its header.
pub(crate) fn stored<R: AsyncRead + Unpin>(entry: &Entry<R>) -> u64 {
    let header = entry.header();
    let size = match header.entry_type().is_gnu_sparse() {
        true => header.raw_entry_size().unwrap_or(0),
        false => entry.effective_size(),
    };
    size.div_ceil(BLOCK).saturating_mul(BLOCK)
}

/// Bytes that are counted as they are read.
#[derive(Debug)]
pub(crate) struct Counting<R> {
    bytes: R,
    position: Position,
}

impl<R: AsyncRead + Unpin> AsyncRead for Counting<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        std::task::ready!(Pin::new(&mut self.bytes).poll_read(context, into))?;
        let Marks { read, most } = &*self.position.0;
        let more = (into.filled().len() - before) as u64;
        let now = read.fetch_add(more, Ordering::Relaxed) + more;
        Poll::Ready(match now > most.load(Ordering::Relaxed) {
            true => Err(io::Error::other("the header of an entry is longer than 1 MiB")),
            false => Ok(()),
        })
    }
}
