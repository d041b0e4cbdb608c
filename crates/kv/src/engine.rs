//! The two traits of the seam. An implementer is right when it passes
//! the conformance suite, not when it compiles.

use std::fmt::Debug;

use bytes::Bytes;

use crate::{Batch, CommitError, KeyRange, Result, Token, Write};

/// The position of a commit: 1 for the first, then strictly increasing in the
/// order in which commits took effect, without regard to wall clocks. 0 is the empty store.
pub type Version = u64;

/// A key and its value.
pub type Row = (Bytes, Bytes);

/// The values at keys, in their order.
pub type Values = Vec<Option<Bytes>>;

/// Rows in key order (or its reverse), read lazily.
pub type Rows<'a> = Box<dyn Iterator<Item = Result<Row>> + 'a>;

/// An ordered key-value store.
pub trait Engine: Debug + Send + Sync + 'static {
    /// The engine's name, as in configuration and messages: `memory`, `fjall`, `postgres`.
    fn name(&self) -> &'static str;

    /// A consistent view of every commit acknowledged before this call.
    ///
    /// A snapshot is a lease: it pins old data, so nobody holds one at a
    /// client's pace. Long answers page by key and take a new one for each page.
    fn snapshot(&self) -> Result<Box<dyn Snapshot>>;

    /// The same, and what [`Snapshot::read`] answers in it. An engine over a network does both in one round trip.
    fn snapshot_with(&self, wanted: &Wanted) -> Result<(Box<dyn Snapshot>, Found)> {
        let snapshot = self.snapshot()?;
        let found = snapshot.read(wanted)?;
        Ok((snapshot, found))
    }

    /// A snapshot that lasts longer than a request, such as that of a change set. How many there are is limited by whoever takes them:
    /// what an engine keeps for others, such as connections, is not used up by these.
    fn snapshot_to_keep(&self) -> Result<Box<dyn Snapshot>> {
        self.snapshot()
    }

    /// Applies `batch` all or nothing, and returns its version once it is durable.
    ///
    /// Batches of many callers are merged into one durable write; a conflict
    /// fails its own batch only. After [`CommitError::Unknown`] the caller may
    /// ask [`Engine::outcome`] with the batch's token.
    fn commit(&self, batch: Batch) -> Result<Version, CommitError>;

    /// The version under which a batch with this token was committed, if it was.
    ///
    /// Settles [`CommitError::Unknown`]: once the answer is none, that batch is never
    /// applied later. An engine that cannot tell yet answers an error.
    /// Tokens are remembered for at least the last 100,000 commits.
    fn outcome(&self, token: &Token) -> Result<Option<Version>>;

    /// Sizes that [`Engine::commit`] accepts.
    fn limits(&self) -> Limits {
        Limits::default()
    }

    /// Whether a commit that adds something finds room now, as far as that is known.
    fn has_room(&self) -> bool {
        true
    }

    /// How much commits that add something may still take of the disk, where that is known.
    fn room(&self) -> Option<Room> {
        None
    }

    /// Reclaims the space of removed rows, if that is worth its cost; returns whether it did. May take long: commits
    /// and reads continue in the meantime.
    fn reclaim(&self) -> Result<bool> {
        Ok(false)
    }

    /// Whether other processes may have the same store open.
    fn is_shared(&self) -> bool {
        false
    }

    /// Calls `notify` soon after each commit of any process that appended to a log, until the engine is dropped. It is a
    /// hint: a call may be late or spurious, and an engine that cannot detect commits makes none.
    fn follow(&self, notify: Box<dyn Fn() + Send>) {
        drop(notify);
    }
}

/// What an engine may take of its disk, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// What commits that add something may still take.
    pub free: u64,
    /// The size of the disk.
    pub disk: u64,
}

/// A consistent, read-only view.
pub trait Snapshot: Debug + Send + Sync {
    /// The newest commit that this view contains.
    fn version(&self) -> Version;

    /// The value at `key`.
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>>;

    /// The values at `keys`, in the same order, one for each key, including missing and repeated ones.
    ///
    /// The same as [`Snapshot::get`] of each. An engine over a network answers in one round trip, however many there are.
    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        keys.iter().map(|key| self.get(key)).collect()
    }

    /// All that is wanted. An engine over a network answers in one round trip, and leaves out ranges that have much, which are to be
    /// scanned.
    fn read(&self, wanted: &Wanted) -> Result<Found> {
        let values = self.get_many(&wanted.keys)?;
        let rows = |(range, most): &(KeyRange, usize)| {
            self.scan(range, ScanOptions::limit(*most)).collect::<Result<_>>().map(Some)
        };
        Ok(Found { values, rows: wanted.ranges.iter().map(rows).collect::<Result<_>>()? })
    }

    /// The rows of `range` in key order.
    fn scan(&self, range: &KeyRange, options: ScanOptions) -> Rows<'_>;
}

/// What is to be read together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The values at these keys.
    pub keys: Vec<Bytes>,
    /// The first rows of these ranges, of each at most so many.
    pub ranges: Vec<(KeyRange, usize)>,
}

impl From<Vec<Bytes>> for Wanted {
    fn from(keys: Vec<Bytes>) -> Self {
        Self { keys, ranges: Vec::new() }
    }
}

/// What was read of what was [`Wanted`], in the same order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The value at each key.
    pub values: Values,
    /// The rows of each range, in key order; none if they are too large to be read together with others.
    pub rows: Vec<Option<Vec<Row>>>,
}

/// How to walk a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanOptions {
    /// From the last key to the first.
    pub reverse: bool,
    /// At most this many rows. Engines with a round trip fetch no more than this.
    pub limit: usize,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self { reverse: false, limit: usize::MAX }
    }
}

impl ScanOptions {
    /// At most `limit` rows, in key order.
    pub fn limit(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// From the last key to the first.
    pub fn reversed(self) -> Self {
        Self { reverse: true, ..self }
    }
}

/// The largest sizes a commit may have, in bytes. Larger work is a sequence of commits.
///
/// A written key is never empty and never starts with the byte 0xff: engines store their own rows there, so such keys
/// read as absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// One key.
    pub key: usize,
    /// One value.
    pub value: usize,
    /// All keys and values of one batch together.
    pub batch: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { key: 2_048, value: 16 << 20, batch: 64 << 20 }
    }
}

impl Limits {
    /// Refuses a batch that breaks the limits.
    pub fn check(&self, batch: &Batch) -> Result<(), CommitError> {
        let broken = match batch.writes.iter().find_map(|write| self.broken_by(write)) {
            None if batch.size() > self.batch => Some(format!("over {} bytes", self.batch)),
            broken => broken,
        };
        broken.map_or(Ok(()), |what| Err(CommitError::TooLarge(what)))
    }

    fn broken_by(&self, write: &Write) -> Option<String> {
        let key = write.key();
        match write {
            _ if is_reserved(key) => Some("key is empty or begins with 0xff".to_owned()),
            Write::Append(..) if key.len() + APPEND_SUFFIX > self.key => {
                Some(format!("key over {} bytes", self.key))
            }
            _ if key.len() > self.key => Some(format!("key over {} bytes", self.key)),
            Write::Put(_, value) | Write::Append(_, value) if value.len() > self.value => {
                Some(format!("value over {} bytes", self.value))
            }
            _ => None,
        }
    }
}

/// The bytes that an append adds to its prefix: version and index.
const APPEND_SUFFIX: usize = 12;

/// Whether a key is kept from callers.
pub(crate) fn is_reserved(key: &[u8]) -> bool {
    key.first().is_none_or(|first| *first == 0xff)
}
