//! A range of a content that is on its way, or has arrived.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::budget::Share;
use super::remote::Remote;
use super::window::Latency;
use crate::disk::Cached;
use crate::error::{Fault, Result};

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
    pub(crate) remote: Remote,
    pub(crate) range: Range<u64>,
    /// Where the time until the answer is noted.
    pub(crate) latency: Arc<Latency>,
    /// The content in the disk cache, which is read first, and stores the bytes from the source.
    pub(crate) kept: Option<Arc<Cached>>,
}

#[derive(Debug, Default)]
struct Arrived(Mutex<Segments>);

/// The length of the segments in which bytes are gathered: most reads of the kernel are within one, and are answered without a copy.
const SEGMENT: usize = 1 << 20;

/// What has arrived, in order: whole segments, and the beginning of the next.
#[derive(Debug, Default)]
struct Segments {
    parts: Vec<(u64, Bytes)>,
    tail: BytesMut,
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
        let (sender, progress) = watch::channel(());
        let range = wanted.range.clone();
        let filling = Arc::clone(&arrived);
        let task = tokio::spawn(async move {
            let end = fill(&wanted, (&filling, &sender)).await;
            filling.lock(|segments| segments.end = Some(end));
            sender.send_replace(());
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
            let after = segments.parts.partition_point(|(offset, _)| *offset <= start);
            let (offset, bytes) = &segments.parts[after.checked_sub(1)?];
            (end <= offset + bytes.len() as u64)
                .then(|| bytes.slice((start - offset) as usize..(end - offset) as usize))
        }))
    }

    pub(crate) async fn read(&self, range: &Range<u64>, into: &mut BytesMut) -> Result<()> {
        self.wait(range.end).await?;
        let (start, end) = (range.start - self.range.start, range.end - self.range.start);
        self.arrived.lock(|segments| segments.copy(start..end, into));
        Ok(())
    }
}

impl Segments {
    /// Memory for what arrives next; `total` is how many bytes there are to be in the end.
    fn room(&mut self, total: u64) -> BytesMut {
        // If a request failed, the rest of the segment was lost with it.
        if self.tail.len() == self.tail.capacity() {
            self.finish_segment();
            let length = (total - self.length).min(SEGMENT as u64);
            self.tail = BytesMut::with_capacity(length as usize);
        }
        self.tail.split_off(self.tail.len())
    }

    /// Adds what has arrived in the memory of [`Self::room`], and finishes a segment that is full.
    fn add(&mut self, room: BytesMut) {
        self.length += room.len() as u64;
        self.tail.unsplit(room);
        if self.tail.len() == self.tail.capacity() {
            self.finish_segment();
        }
    }

    /// Adds the bytes of a whole segment, or of several, as they are.
    fn push(&mut self, bytes: Bytes) {
        let offset = self.length;
        self.length += bytes.len() as u64;
        self.parts.push((offset, bytes));
    }

    fn finish_segment(&mut self) {
        if !self.tail.is_empty() {
            let bytes = self.tail.split().freeze();
            self.parts.push((self.length - bytes.len() as u64, bytes));
        }
    }

    fn copy(&self, range: Range<u64>, into: &mut BytesMut) {
        let tail = (self.length - self.tail.len() as u64, &self.tail[..]);
        let parts = self.parts.iter().map(|(offset, bytes)| (*offset, &bytes[..])).chain([tail]);
        for (offset, bytes) in parts {
            let end = offset + bytes.len() as u64;
            let (from, to) = (range.start.max(offset), range.end.min(end));
            if from < to {
                into.extend_from_slice(&bytes[(from - offset) as usize..(to - offset) as usize]);
            }
        }
    }
}

impl Arrived {
    fn lock<T>(&self, then: impl FnOnce(&mut Segments) -> T) -> T {
        then(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn fill(wanted: &Wanted, (arrived, sender): (&Arrived, &watch::Sender<()>)) -> Result<()> {
    let Wanted { remote, range, latency, kept } = wanted;
    let (source, length) = (&remote.source, range.end - range.start);
    if let Some(bytes) = kept.as_ref().and_then(|kept| kept.read(range)) {
        arrived.lock(|all| all.push(bytes));
        return Ok(());
    }
    let rest = async || {
        let next = range.start + arrived.lock(|all| all.length);
        let started = Instant::now();
        let mut content = remote.read(next..range.end).await?;
        latency.note(started.elapsed());
        while arrived.lock(|all| all.length) < length {
            // The memory is filled without the lock: what has arrived can be read in the meantime.
            let mut room = arrived.lock(|all| all.room(length));
            let received = source.within(content.fill(&mut room)).await?;
            arrived.lock(|all| all.add(room));
            if received == 0 {
                break;
            }
            sender.send_replace(());
        }
        Ok(())
    };
    source.insist(rest).await?;
    arrived.lock(Segments::finish_segment);
    if let Some(kept) = kept {
        let parts = arrived.lock(|all| all.parts.iter().map(|(_, bytes)| bytes.clone()).collect());
        kept.keep(range.start, parts);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes_of(length: usize) -> Vec<u8> {
        (0..length).map(|n| (n * 7 + n / 251) as u8).collect()
    }

    proptest! {
        #[test]
        fn what_has_arrived_is_read_across_segments_before_and_after_the_end(
            lengths in proptest::collection::vec(1_usize..700_000, 1..8),
            lost in proptest::collection::vec(any::<bool>(), 8),
            (from, to, is_ended) in (0.0..1.0, 0.0..1.0, any::<bool>()),
        ) {
            let all = bytes_of(lengths.iter().sum());
            let (mut segments, mut rest) = (Segments::default(), &all[..]);
            for (length, is_lost) in lengths.into_iter().zip(lost) {
                if is_lost {
                    // The connection ended, and the rest is requested again.
                    drop(segments.room(all.len() as u64));
                }
                let mut room = segments.room(all.len() as u64);
                prop_assert!(room.capacity() > 0);
                let (now, later) = rest.split_at(length.min(room.capacity()));
                room.extend_from_slice(now);
                segments.add(room);
                rest = later;
            }
            let all = &all[..all.len() - rest.len()];
            if is_ended {
                segments.finish_segment();
            }
            let at = |share: f64| (share * all.len() as f64) as usize;
            let range = at(from).min(at(to))..at(from).max(at(to));
            let mut read = BytesMut::new();
            segments.copy(range.start as u64..range.end as u64, &mut read);
            prop_assert!(read == all[range]);
            prop_assert_eq!(segments.length, all.len() as u64);
            prop_assert!(segments.parts.iter().all(|(_, part)| part.len() <= SEGMENT));
        }
    }
}
