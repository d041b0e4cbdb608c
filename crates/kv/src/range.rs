//! Key ranges, and the digest of the rows in one.

use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::Row;

/// Keys from `start` (included) up to `end` (excluded; none means to the last key).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyRange {
    /// The first key.
    pub start: Bytes,
    /// The key after the last, if there is a bound.
    pub end: Option<Bytes>,
}

impl KeyRange {
    /// From `start` up to but not including `end`.
    pub fn new(start: impl Into<Bytes>, end: impl Into<Bytes>) -> Self {
        Self { start: start.into(), end: Some(end.into()) }
    }

    /// Every key.
    pub fn all() -> Self {
        Self { start: Bytes::new(), end: None }
    }

    /// Every key that begins with `prefix`.
    pub fn prefix(prefix: impl Into<Bytes>) -> Self {
        let start = prefix.into();
        let end = successor(&start);
        Self { start, end }
    }

    /// The part of this range after `key`.
    pub fn after(mut self, key: &[u8]) -> Self {
        let mut next = Vec::with_capacity(key.len() + 1);
        next.extend_from_slice(key);
        next.push(0);
        if next.as_slice() > self.start.as_ref() {
            self.start = next.into();
        }
        self
    }

    /// Whether `key` is in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        key >= self.start.as_ref() && self.end.as_ref().is_none_or(|end| key < end.as_ref())
    }
}

/// The first key that no longer begins with `prefix`.
fn successor(prefix: &[u8]) -> Option<Bytes> {
    let last = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end.into())
}

/// SHA-256 over the rows of a range as they were read: each key and value with
/// its length as a big-endian `u32` before it. Every engine computes the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeDigest(pub [u8; 32]);

impl RangeDigest {
    /// The digest of `rows`, in the order given.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        Self::of_pairs(rows.into_iter().map(|(key, value)| (key, value)))
    }

    pub(crate) fn of_pairs<'a>(rows: impl IntoIterator<Item = (&'a Bytes, &'a Bytes)>) -> Self {
        let mut hash = Sha256::new();
        for (key, value) in rows {
            for part in [key, value] {
                hash.update((part.len() as u32).to_be_bytes());
                hash.update(part);
            }
        }
        Self(hash.finalize().into())
    }
}
