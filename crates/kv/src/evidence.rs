//! Evidence: what a caller read, and whether it is unchanged.

use bytes::Bytes;

use crate::{CommitError, KeyRange, RangeDigest, Result, ScanOptions, Snapshot};

/// Something that was read, and must still be so at the commit.
#[derive(Debug, Clone)]
pub enum Evidence {
    /// The key held this value, or none.
    Key {
        /// The key read.
        key: Bytes,
        /// What it held.
        value: Option<Bytes>,
    },
    /// A scan of `range` with `limit` saw rows with this digest.
    Range {
        /// The range scanned.
        range: KeyRange,
        /// The limit of the scan.
        limit: usize,
        /// The digest of the rows it returned.
        digest: RangeDigest,
    },
}

impl Evidence {
    /// The key, or the start of the range, that was read.
    pub fn key(&self) -> &Bytes {
        match self {
            Self::Key { key, .. } => key,
            Self::Range { range, .. } => &range.start,
        }
    }

    /// What it takes to say what was seen, in bytes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Key { key, value } => key.len() + value.as_ref().map_or(0, Bytes::len),
            Self::Range { range, digest, .. } => {
                range.start.len() + range.end.as_ref().map_or(0, Bytes::len) + digest.0.len()
            }
        }
    }

    /// Returns a conflict unless it is unchanged in `view`.
    pub(crate) fn check(&self, view: &dyn Snapshot) -> Result<(), CommitError> {
        match self.holds(view)? {
            true => Ok(()),
            false => Err(CommitError::Conflict { key: self.key().clone() }),
        }
    }

    fn holds(&self, view: &dyn Snapshot) -> Result<bool> {
        match self {
            Self::Key { key, value } => Ok(view.get(key)? == *value),
            Self::Range { range, limit, digest } => {
                let rows: Vec<_> =
                    view.scan(range, ScanOptions::limit(*limit)).collect::<Result<_>>()?;
                Ok(RangeDigest::of(&rows) == *digest)
            }
        }
    }
}
