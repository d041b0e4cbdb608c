//! A range of a content that is on its way, or has arrived.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::budget::Share;
use crate::disk::Cached;
use crate::error::{Fault, Result};
use crate::source::{Place, Source};

/// A range that is being read. Dropping it cancels it.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) range: Range<u64>,
    arrived: Arc<Arrived>,
    progress: watch::Receiver<()>,
    task: AbortHandle,
    _share: Share,
}

/// The source of a piece.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) source: Source,
    pub(crate) place: Place,
    pub(crate) range: Range<u64>,
    pub(crate) etag: Option<String>,
    /// The content in the disk cache, which is read first, and stores the bytes from the source.
    pub(crate) kept: Option<Arc<Cached>>,
}

#[derive(Debug, Default)]
struct Arrived(Mutex<Segments>);

/// What has arrived, in order.
#[derive(Debug, Default)]
struct Segments {
    parts: Vec<(u64, Bytes)>,
    length: u64,
    end: Option<Result<()>>,
}

impl Drop for Piece {
    fn drop(&mut self) {
        // The received bytes are still to be cached.
        if self.arrived.lock(|all| all.length) < self.range.end - self.range.start {
            self.task.abort();
        }
    }
}

impl Piece {
    pub(crate) fn fetch(wanted: Wanted, share: Share) -> Arc<Self> {
        let arrived = Arc::<Arrived>::default();
        let (tell, progress) = watch::channel(());
        let range = wanted.range.clone();
        let filling = Arc::clone(&arrived);
        let task = tokio::spawn(async move {
            let end = fill(&wanted, (&filling, &tell)).await;
            filling.lock(|segments| segments.end = Some(end));
            tell.send_replace(());
        });
        let task = task.abort_handle();
        Arc::new(Self { range, arrived, progress, task, _share: share })
    }

    /// Waits until a range of the content has arrived.
    async fn wait(&self, end: u64) -> Result<()> {
        let mut progress = self.progress.clone();
        loop {
            progress.borrow_and_update();
            let needed = end - self.range.start;
            let outcome = self.arrived.lock(|segments| match &segments.end {
                _ if segments.length >= needed => Some(Ok(())),
                Some(Ok(())) => Some(Err(Fault::warning(libc::EIO, "a content ended early"))),
                Some(Err(fault)) => Some(Err(fault.clone())),
                None => None,
            });
            if let Some(outcome) = outcome {
                return outcome;
            }
            if progress.changed().await.is_err() {
                return Err(Fault::warning(libc::EIO, "reading was abandoned"));
            }
        }
    }

    /// A range without copying, if it arrived in one segment.
    pub(crate) async fn read_one(&self, range: &Range<u64>) -> Result<Option<Bytes>> {
        self.wait(range.end).await?;
        let (start, end) = (range.start - self.range.start, range.end - self.range.start);
        Ok(self.arrived.lock(|segments| {
            let index = segments.parts.partition_point(|(offset, _)| *offset <= start) - 1;
            let (offset, bytes) = &segments.parts[index];
            (end <= offset + bytes.len() as u64)
                .then(|| bytes.slice((start - offset) as usize..(end - offset) as usize))
        }))
    }

    pub(crate) async fn read(&self, range: &Range<u64>, into: &mut BytesMut) -> Result<()> {
        self.wait(range.end).await?;
        let (start, end) = (range.start - self.range.start, range.end - self.range.start);
        self.arrived.lock(|segments| {
            let first = segments.parts.partition_point(|(offset, _)| *offset <= start) - 1;
            for (offset, bytes) in &segments.parts[first..] {
                let length = bytes.len() as u64;
                if *offset >= end {
                    break;
                }
                let from = start.max(*offset) - offset;
                let to = (end - offset).min(length);
                into.extend_from_slice(&bytes[from as usize..to as usize]);
            }
        });
        Ok(())
    }
}

impl Arrived {
    fn push(&self, bytes: Bytes) {
        self.lock(|segments| {
            let offset = segments.length;
            segments.length += bytes.len() as u64;
            segments.parts.push((offset, bytes));
        });
    }

    fn lock<T>(&self, then: impl FnOnce(&mut Segments) -> T) -> T {
        then(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn fill(wanted: &Wanted, (arrived, tell): (&Arrived, &watch::Sender<()>)) -> Result<()> {
    let Wanted { source, place, range, etag, kept } = wanted;
    if let Some(bytes) = kept.as_ref().and_then(|kept| kept.read(range)) {
        arrived.push(bytes);
        return Ok(());
    }
    let rest = async || {
        let next = range.start + arrived.lock(|all| all.length);
        let content = source.read(place, next..range.end, etag.as_deref()).await?;
        let mut stream = content.into_stream();
        while let Some(bytes) = source.next(&mut stream).await? {
            arrived.push(bytes);
            tell.send_replace(());
        }
        Ok(())
    };
    source.insist(rest).await?;
    if let Some(kept) = kept {
        let parts = arrived.lock(|all| all.parts.iter().map(|(_, bytes)| bytes.clone()).collect());
        kept.keep(range.start, parts);
    }
    Ok(())
}
