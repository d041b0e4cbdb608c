//! Errors, classified by what the caller does about them. One function, [`Error::classify`], translates the errors of
//! every store.

use std::error::Error as StdError;
use std::io;

use rustix::io::Errno;

use crate::BlobId;

/// The result of an operation on a place.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation on a place failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The place has no such blob. If something refers to it, contents have been lost.
    #[error("{place}: no blob {id}")]
    NotFound {
        /// The place queried.
        place: String,
        /// The requested blob.
        id: BlobId,
    },

    /// The disk or quota is full, or the file too large for it. Nothing was kept; reads still work, and writes
    /// succeed again once there is space: this is no reason to stop the server.
    #[error("{place}: no space left; free some or extend the quota, then try again")]
    NoSpace {
        /// The place that is full.
        place: String,
        /// The error from the store.
        #[source]
        source: Source,
    },

    /// What the place holds is not what was written. Read another copy; report it.
    #[error("{place}: blob {id} is damaged: {damage}")]
    Damaged {
        /// The place that holds the damaged blob.
        place: String,
        /// The damaged blob.
        id: BlobId,
        /// What was found.
        damage: Damage,
    },

    /// The disk failed. After a failed write it can no longer be trusted: stop writing until somebody has examined it.
    #[error("{place}: input/output failed")]
    Io {
        /// The place whose disk failed.
        place: String,
        /// The error from the store.
        #[source]
        source: Source,
    },

    /// The place cannot be used now: not reachable, not permitted, or out of file handles. Nothing is known to be
    /// wrong with its contents; try again later.
    #[error("{place}: not available: {}", root(source.as_ref()))]
    Unavailable {
        /// The place that cannot be used.
        place: String,
        /// The error from the store.
        #[source]
        source: Source,
    },

    /// The place's settings are wrong: an unknown scheme, option or directory.
    #[error("{place}: cannot be opened; check its address and options")]
    Settings {
        /// The place that was to be opened.
        place: String,
        /// What is wrong.
        #[source]
        source: Source,
    },
}

/// The cause beneath an [`Error`].
pub type Source = Box<dyn StdError + Send + Sync + 'static>;

/// How a blob differs from what was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// It has fewer bytes than were written.
    #[error("it has {actual} bytes where {expected} are needed")]
    Short {
        /// The minimum length expected.
        expected: u64,
        /// The actual length.
        actual: u64,
    },
    /// The bytes of a block differ from those written.
    #[error("the block at byte {start} has other bytes")]
    Block {
        /// The first byte of the block.
        start: u64,
    },
    /// Its CRC-64/NVME differs.
    #[error("its CRC-64/NVME is {actual:016x}, not {expected:016x}")]
    Crc {
        /// The CRC computed when it was written.
        expected: u64,
        /// The CRC of the bytes read.
        actual: u64,
    },
    /// Its SHA-256 differs.
    #[error("its SHA-256 is {}, not {}", hex::encode(actual), hex::encode(expected))]
    Digest {
        /// The SHA-256 computed when it was written.
        expected: [u8; 32],
        /// The SHA-256 of the bytes read.
        actual: [u8; 32],
    },
}

impl Error {
    /// The error to report for `source`, which the store of `place` returned while working on `id` (if any). `disk`
    /// says that the store is a local disk.
    pub(crate) fn classify(place: &str, disk: bool, id: Option<BlobId>, source: Source) -> Self {
        let place = place.to_owned();
        if let (Some(id), true) = (id, is_not_found(&*source)) {
            return Self::NotFound { place, id };
        }
        match errno(&*source) {
            Some(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) => Self::NoSpace { place, source },
            Some(Errno::IO | Errno::ROFS) => Self::Io { place, source },
            Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN) => {
                Self::Unavailable { place, source }
            }
            Some(_) if disk => Self::Io { place, source },
            _ => Self::Unavailable { place, source },
        }
    }
}

/// The root cause of an error, which says more than the layers above it, on one line of limited length.
fn root(error: &(dyn StdError + 'static)) -> String {
    let bottom = chain(error).last().map(ToString::to_string).unwrap_or_default();
    let words: Vec<&str> = bottom.split_whitespace().collect();
    words.join(" ").chars().take(300).collect()
}

fn chain<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

fn is_not_found(error: &(dyn StdError + 'static)) -> bool {
    chain(error)
        .any(|error| matches!(error.downcast_ref(), Some(object_store::Error::NotFound { .. })))
}

/// The operating system's error at the root of the chain.
fn errno(error: &(dyn StdError + 'static)) -> Option<Errno> {
    chain(error)
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .find_map(Errno::from_io_error)
}

#[cfg(test)]
mod tests;
