//! Reading contents: sequential reads are read ahead, in growing pieces; random reads are exact.
//!
//! Invariants: all that is read ahead and not yet used has its bytes in the [`Budget`]; a read never waits for the budget. What one reader returns is of
//! one content, whatever happens to the object.

mod budget;
mod lease;
mod local;
mod piece;
mod remote;
pub(crate) mod small;
mod window;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::{Bytes, BytesMut};
use tokio::time::Instant;

pub(crate) use self::budget::Budget;
use self::lease::Lease;
pub(crate) use self::lease::Leases;
pub(crate) use self::local::{LocalFile, LocalFiles};
use self::piece::{Piece, Wanted};
pub(crate) use self::remote::Remote;
pub(crate) use self::small::SmallFiles;
use self::window::Latency;
use crate::disk::{BLOCK, Cached};
use crate::error::Result;

const MIB: u64 = 1 << 20;
/// Pieces are at least this large, and at most the other.
const PIECE: Range<u64> = MIB..8 * MIB;
/// The maximum distance of a sequential read from the end of the last one: the kernel's own read-ahead is out of order.
const NEAR: u64 = MIB;

/// Reads one content.
#[derive(Debug)]
pub(crate) struct Reader {
    budget: Arc<Budget>,
    pub(crate) etag: Option<String>,
    pub(crate) size: u64,
    /// Where it is read from.
    remote: Mutex<Remote>,
    leases: Arc<Leases>,
    /// The lease of it, from the second request on.
    lease: OnceLock<Lease>,
    /// Whether something was requested.
    begun: AtomicBool,
    latency: Arc<Latency>,
    /// The content in the disk cache.
    kept: Option<Arc<Cached>>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    pieces: VecDeque<Arc<Piece>>,
    /// Where the last read ended.
    end: u64,
    /// How many bytes were read in order, and since when.
    streak: u64,
    since: Instant,
}

impl Default for State {
    fn default() -> Self {
        Self { pieces: VecDeque::new(), end: 0, streak: 0, since: Instant::now() }
    }
}

impl Reader {
    pub(crate) fn new(
        (remote, size): (Remote, u64),
        (budget, leases): (Arc<Budget>, Arc<Leases>),
        kept: Option<Arc<Cached>>,
    ) -> Self {
        let (etag, remote) = (remote.etag.clone(), Mutex::new(remote));
        let (lease, begun, state) = (OnceLock::new(), AtomicBool::default(), Mutex::default());
        let latency = Arc::default();
        Self { budget, etag, size, remote, leases, lease, begun, latency, kept, state }
    }

    /// The content where it is read from now, for one more request.
    fn request(&self) -> Remote {
        let remote = self.remote();
        if self.begun.swap(true, Ordering::Relaxed) {
            self.lease.get_or_init(|| self.leases.begin(&remote));
        }
        remote
    }

    fn remote(&self) -> Remote {
        self.remote.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the content from elsewhere from now on, since the object does not have it any more.
    ///
    /// # Errors
    /// `ESTALE` if nobody has it.
    pub(crate) async fn find_former(&self) -> Result<()> {
        let lease = match self.lease.get() {
            Some(lease) => lease.id().await,
            None => None,
        };
        let found = self.remote().find_former(lease, self.size).await?;
        *self.remote.lock().unwrap_or_else(PoisonError::into_inner) = found;
        Ok(())
    }

    /// The bytes of a range, as far as the content reaches.
    pub(crate) async fn read(&self, offset: u64, length: u32) -> Result<Bytes> {
        let range = offset..self.size.min(offset.saturating_add(length.into()));
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        if let Some(bytes) = self.kept.as_ref().and_then(|kept| kept.read(&range)) {
            self.lock().note(&range);
            return Ok(bytes);
        }
        let pieces = self.plan(&range);
        let bytes = match pieces.is_empty() {
            true => {
                let remote = self.request();
                remote.source.insist(|| read_exactly(&remote, range.clone())).await
            }
            false => gather(&pieces, range).await,
        };
        if bytes.is_err() {
            // The next read is sent again, rather than returning the same error from the read-ahead.
            self.lock().pieces.clear();
        }
        bytes
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The pieces of a range, after reading ahead as far as worthwhile; `None` if it should be read individually.
    fn plan(&self, range: &Range<u64>) -> Vec<Arc<Piece>> {
        let mut state = self.lock();
        let state = &mut *state;
        if !state.note(range) {
            return Vec::new();
        }
        self.read_ahead(state, range);
        match state.covers(range) {
            true => state.within(range),
            false => Vec::new(),
        }
    }

    fn read_ahead(&self, state: &mut State, range: &Range<u64>) {
        let fair = self.budget.fair_share();
        let window = self.latency.window(state.streak, state.since.elapsed());
        let window = window.min(fair).max(PIECE.start);
        let until = self.size.min(range.end.saturating_add(window));
        let start = range.start - range.start % BLOCK;
        let mut next = state.pieces.back().map_or(start, |piece| piece.range.end);
        while next < until {
            let length = (window / 4).clamp(PIECE.start, PIECE.end);
            // Pieces are aligned to the blocks of the disk cache.
            let end = (next + length).next_multiple_of(BLOCK).min(self.size);
            let Some(share) = self.budget.take(end - next) else { return };
            state.pieces.push_back(Piece::fetch(self.wanted(next..end), share));
            next = end;
        }
    }

    fn wanted(&self, range: Range<u64>) -> Wanted {
        let (kept, latency) = (self.kept.clone(), Arc::clone(&self.latency));
        Wanted { remote: self.request(), range, latency, kept }
    }
}

async fn read_exactly(remote: &Remote, range: Range<u64>) -> Result<Bytes> {
    let length = (range.end - range.start) as usize;
    let (content, source) = (remote.read(range).await?, &remote.source);
    let mut stream = content.into_stream();
    let mut first = source.next(&mut stream).await?.unwrap_or_default();
    if first.len() >= length {
        first.truncate(length);
        return Ok(first);
    }
    let mut bytes = BytesMut::with_capacity(length);
    bytes.extend_from_slice(&first);
    while let Some(more) = source.next(&mut stream).await? {
        bytes.extend_from_slice(&more);
    }
    Ok(bytes.freeze())
}

impl State {
    /// Notes a read; returns whether it is in order.
    fn note(&mut self, range: &Range<u64>) -> bool {
        let in_order = range.start.abs_diff(self.end) <= NEAR || self.covers(range);
        if !in_order {
            *self = Self { end: range.end, ..Self::default() };
            return false;
        }
        self.streak += range.end - range.start;
        self.end = self.end.max(range.end);
        self.drop_before(range.start.saturating_sub(NEAR));
        true
    }

    fn covers(&self, range: &Range<u64>) -> bool {
        let (Some(first), Some(last)) = (self.pieces.front(), self.pieces.back()) else {
            return false;
        };
        first.range.start <= range.start && range.end <= last.range.end
    }

    fn within(&self, range: &Range<u64>) -> Vec<Arc<Piece>> {
        let meets =
            |piece: &&Arc<Piece>| piece.range.start < range.end && range.start < piece.range.end;
        self.pieces.iter().filter(meets).cloned().collect()
    }

    fn drop_before(&mut self, offset: u64) {
        while self.pieces.front().is_some_and(|piece| piece.range.end <= offset) {
            self.pieces.pop_front();
        }
    }
}

async fn gather(pieces: &[Arc<Piece>], range: Range<u64>) -> Result<Bytes> {
    if let [piece] = pieces
        && let Some(bytes) = piece.read_one(&range).await?
    {
        return Ok(bytes);
    }
    let mut bytes = BytesMut::with_capacity((range.end - range.start) as usize);
    for piece in pieces {
        let part = piece.range.start.max(range.start)..piece.range.end.min(range.end);
        piece.read(&part, &mut bytes).await?;
    }
    Ok(bytes.freeze())
}
