//! Evidence: what a caller read, and whether it is unchanged.

use bytes::Bytes;

use crate::{CommitError, KeyRange, RangeDigest, Result, ScanOptions, Snapshot};

/// Something that was read, and must still be so at the commit.
#[derive(Debug, Clone)]
pub enum Evidence {
    /// These keys held these values, or none.
    ///
    /// One item, since what a commit read key by key is compared as one: the access that it depends on, whatever the depth of its path.
    /// An engine over a network sends one digest for all of them.
    Keys(Vec<(Bytes, Option<Bytes>)>),
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

/// So many keys are read at a time.
const TOGETHER: usize = 1_000;

impl Evidence {
    /// The first of the keys that does not hold in `view` what was seen, or the start of the range if its rows differ; none if all is
    /// unchanged.
    pub fn changed_in(&self, view: &dyn Snapshot) -> Result<Option<Bytes>> {
        match self {
            Self::Keys(keys) => changed_key(keys, view),
            Self::Range { range, limit, digest } => {
                let rows: Vec<_> =
                    view.scan(range, ScanOptions::limit(*limit)).collect::<Result<_>>()?;
                Ok((RangeDigest::of(&rows) != *digest).then(|| range.start.clone()))
            }
        }
    }

    /// The keys with what they held; none for a range.
    pub(crate) fn keys(&self) -> &[(Bytes, Option<Bytes>)] {
        match self {
            Self::Keys(keys) => keys,
            Self::Range { .. } => &[],
        }
    }

    /// The bytes of what was seen: less is sent where keys are compared by a digest.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Keys(keys) => keys.iter().map(|(key, value)| sizes(key, value)).sum(),
            Self::Range { range, digest, .. } => {
                range.start.len() + range.end.as_ref().map_or(0, Bytes::len) + digest.0.len()
            }
        }
    }

    /// Returns a conflict unless it is unchanged in `view`.
    pub(crate) fn check(&self, view: &dyn Snapshot) -> Result<(), CommitError> {
        self.changed_in(view)?.map_or(Ok(()), |key| Err(CommitError::Conflict { key }))
    }
}

fn sizes(key: &Bytes, value: &Option<Bytes>) -> usize {
    key.len() + value.as_ref().map_or(0, Bytes::len)
}

fn changed_key(keys: &[(Bytes, Option<Bytes>)], view: &dyn Snapshot) -> Result<Option<Bytes>> {
    for some in keys.chunks(TOGETHER) {
        let wanted: Vec<Bytes> = some.iter().map(|(key, _)| key.clone()).collect();
        let found = view.get_many(&wanted)?;
        let mut pairs = some.iter().zip(found);
        if let Some(((key, _), _)) = pairs.find(|((_, seen), found)| seen != found) {
            return Ok(Some(key.clone()));
        }
    }
    Ok(None)
}
