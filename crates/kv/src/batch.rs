//! A batch: changes, and the evidence they depend on.

use bytes::Bytes;

use crate::{Bound, Evidence, KeyRange, RangeDigest, Version};

/// Identifies one attempt to commit, so that its outcome can be queried later. Chosen at random by the
/// caller.
pub type Token = [u8; 16];

/// Changes that are applied atomically, if the evidence is still valid.
///
/// Writes take effect in the order given; a later write to a key wins. Evidence
/// is about the state before the batch.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// The version of the snapshot the evidence was read from. An engine on which
    /// nothing was committed since may take the evidence as true, so evidence that was not
    /// read from that snapshot needs 0 here: it is then checked in any case.
    pub seen: Version,
    /// What the caller saw and relies on: all keys as one item, then ranges.
    pub evidence: Vec<Evidence>,
    /// The maximum values of counters after it. Checked after the evidence, against the newest values.
    pub bounds: Vec<Bound>,
    /// The changes.
    pub writes: Vec<Write>,
    /// Remembered with the commit, if given.
    pub token: Option<Token>,
    /// The version of the commit is at least this; 0 asks for nothing. A catalog that was copied from another engine goes on
    /// with versions after those that its logs have.
    pub least: Version,
    /// It frees space, directly or through later changes, so it may use space that others may not.
    pub frees: bool,
}

/// One change.
#[derive(Debug, Clone)]
pub enum Write {
    /// Sets the key.
    Put(Bytes, Bytes),
    /// Removes the key; removing a missing key is not an error.
    Delete(Bytes),
    /// Adds to a counter: a big-endian `i64`, absent at zero. Additions commute:
    /// they need no evidence and cause no conflict. A sum that overflows wraps.
    Add(Bytes, i64),
    /// Puts the value at `prefix` + the commit's version (big-endian `u64`) + the index
    /// of this write among the batch's appends (big-endian `u32`). Appends of later commits sort
    /// after those of earlier ones, and become visible in that order.
    Append(Bytes, Bytes),
}

impl Batch {
    /// A batch that depends on a snapshot of version `seen`.
    pub fn new(seen: Version) -> Self {
        Self { seen, ..Self::default() }
    }

    /// Adds a write that sets `key`.
    pub fn put(&mut self, key: impl Into<Bytes>, value: impl Into<Bytes>) -> &mut Self {
        self.writes.push(Write::Put(key.into(), value.into()));
        self
    }

    /// Adds a write that removes `key`.
    pub fn delete(&mut self, key: impl Into<Bytes>) -> &mut Self {
        self.writes.push(Write::Delete(key.into()));
        self
    }

    /// Adds a commutative addition to the counter at `key`.
    pub fn add(&mut self, key: impl Into<Bytes>, delta: i64) -> &mut Self {
        self.writes.push(Write::Add(key.into(), delta));
        self
    }

    /// Adds an append to the log at `prefix`.
    pub fn append(&mut self, prefix: impl Into<Bytes>, value: impl Into<Bytes>) -> &mut Self {
        self.writes.push(Write::Append(prefix.into(), value.into()));
        self
    }

    /// Requires that the value of `key` is still `value`.
    pub fn expect(&mut self, key: impl Into<Bytes>, value: Option<Bytes>) -> &mut Self {
        self.expect_keys([(key.into(), value)])
    }

    /// The same of many keys. All keys of a batch are one item of evidence, which comes before its ranges; without any there is none.
    pub fn expect_keys(
        &mut self,
        seen: impl IntoIterator<Item = (Bytes, Option<Bytes>)>,
    ) -> &mut Self {
        let item = self.evidence.iter_mut().find_map(|evidence| match evidence {
            Evidence::Keys(keys) => Some(keys),
            Evidence::Range { .. } => None,
        });
        let mut seen = seen.into_iter().peekable();
        match item {
            Some(keys) => keys.extend(seen),
            None if seen.peek().is_none() => {}
            None => self.evidence.insert(0, Evidence::Keys(seen.collect())),
        }
        self
    }

    /// Requires that a scan of `range` with `limit` still sees rows with `digest`.
    pub fn expect_range(
        &mut self,
        range: KeyRange,
        limit: usize,
        digest: RangeDigest,
    ) -> &mut Self {
        self.evidence.push(Evidence::Range { range, limit, digest });
        self
    }

    /// The version of this commit after the one with the version `newest`.
    pub(crate) fn version_after(&self, newest: Version) -> Version {
        self.least.max(newest + 1)
    }

    /// The size of all keys and values written, in bytes.
    pub fn size(&self) -> usize {
        self.writes.iter().map(Write::size).sum()
    }
}

impl Write {
    /// The key written, or the prefix of an append.
    pub fn key(&self) -> &Bytes {
        match self {
            Self::Put(key, _) | Self::Delete(key) | Self::Add(key, _) | Self::Append(key, _) => key,
        }
    }

    /// The key of the `index`th append of the commit with this version.
    pub(crate) fn append_key(prefix: &[u8], version: Version, index: u32) -> Bytes {
        [prefix, &version.to_be_bytes(), &index.to_be_bytes()].concat().into()
    }

    /// The value of a counter after an addition; `None` for zero.
    pub(crate) fn sum(old: Option<&Bytes>, delta: i64) -> Option<Bytes> {
        let old = old.map_or(0, |value| counter(value));
        match old.wrapping_add(delta) {
            0 => None,
            sum => Some(Bytes::copy_from_slice(&sum.to_be_bytes())),
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Put(key, value) | Self::Append(key, value) => key.len() + value.len(),
            Self::Delete(key) => key.len(),
            Self::Add(key, _) => key.len() + 8,
        }
    }
}

/// Reads the value of a counter. Bytes that are no counter count as zero.
pub fn counter(value: &[u8]) -> i64 {
    value.try_into().map_or(0, i64::from_be_bytes)
}
