//! Errors, classified by what the caller should do about them.

use bytes::Bytes;

/// A result of the seam.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A read, or the engine as a whole, failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The engine could not read or write. After a failed write or sync the
    /// engine is latched: it takes no commit until it is opened again.
    #[error("catalog engine failed: {0}")]
    Io(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Stored bytes differ from those written.
    #[error("catalog is damaged: {0}")]
    Corrupt(String),
    /// Another process, or another engine in this one, has the store open.
    #[error("catalog is in use by another process")]
    Locked,
    /// Whether a commit took effect shows only when the engine is opened again.
    #[error("catalog is read-only after a failed write; open it again to learn what was kept")]
    Undecided,
}

/// A commit was not acknowledged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// Some evidence is no longer valid: read and decide again. Nothing was applied.
    #[error("a concurrent commit changed what this one depends on")]
    Conflict {
        /// The start of the range that changed, or one of the keys that are one item of evidence ([`crate::Evidence::Keys`]) which does
        /// not hold any more: the one that changed if the engine can tell. One that compares them by a digest gives any of them, and
        /// [`crate::Evidence::changed_in`] finds the key.
        key: Bytes,
    },
    /// The evidence is valid, but a counter would exceed a [`crate::Bound`] of the batch. Nothing was applied.
    #[error("a counter would exceed its bound")]
    Exceeded {
        /// The key of the counter.
        key: Bytes,
        /// Its value without the batch.
        held: i64,
    },
    /// The batch breaks the engine's limits ([`crate::Limits`]). Nothing was applied.
    #[error("batch exceeds the engine's limits: {0}")]
    TooLarge(String),
    /// An earlier write failed, and the engine accepts no more until it is reopened. Nothing was applied.
    #[error("catalog is read-only after a failed write")]
    Latched,
    /// No room on the catalog's disk. Nothing was applied, and the engine continues.
    #[error("no space left for the catalog")]
    NoSpace,
    /// The batch may or may not have been applied: [`crate::Engine::outcome`] can tell.
    #[error("commit outcome is unknown: {0}")]
    Unknown(#[source] Error),
    /// The engine failed before anything was applied.
    #[error(transparent)]
    Engine(#[from] Error),
}
