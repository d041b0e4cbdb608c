//! Short ranges of blobs on a local disk: opened, read and verified in one step.
//!
//! Each change of threads costs more than reading such a range from the page cache. So there is at most one, and none within
//! [`read_here`].
//!
//! Invariant: only an intact range is returned; a file that is missing, short or damaged is left to the general path, which
//! names the error.

use std::cell::Cell;
use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;

use bytes::Bytes;
use tokio::task::spawn_blocking;

use super::{CHUNK, checked, read_at};
use crate::{BlobId, Blocks, Place};

thread_local! {
    static MAY_BLOCK: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, which polls streams of bytes, on a thread that may block: ranges of at most 512 KiB in places on a local disk are
/// read on this thread, and are ready when they are first polled.
pub fn read_here<T>(work: impl FnOnce() -> T) -> T {
    let _before = Before(MAY_BLOCK.replace(true));
    work()
}

/// What applied to this thread before, and does again once this is dropped.
struct Before(bool);

impl Drop for Before {
    fn drop(&mut self) {
        MAY_BLOCK.set(self.0);
    }
}

/// A range of a file.
struct Short {
    file: PathBuf,
    range: Range<u64>,
    blocks: Option<Blocks>,
}

impl Place {
    /// The bytes of whole blocks of a blob; `None` if they are not few, not on a local disk or not intact.
    pub(super) async fn read_short(
        &self,
        id: BlobId,
        range: &Range<u64>,
        blocks: Option<&Blocks>,
    ) -> Option<Bytes> {
        if range.end - range.start > CHUNK as u64 {
            return None;
        }
        let file = self.file_of(id)?;
        let short = Short { file, range: range.clone(), blocks: blocks.cloned() };
        match MAY_BLOCK.get() {
            true => short.read(),
            false => spawn_blocking(move || short.read()).await.ok()?,
        }
    }
}

impl Short {
    fn read(&self) -> Option<Bytes> {
        let Range { start, end } = self.range;
        let len = (end - start) as usize;
        let bytes = read_at(&File::open(&self.file).ok()?, start, len).ok()?;
        let blocks = self.blocks.as_ref();
        let intact = blocks.is_none_or(|blocks| checked(blocks, start, &bytes, len).is_ok());
        (bytes.len() == len && intact).then_some(bytes)
    }
}
