//! Errors, by what a caller can do about them.

use std::io;

/// Why an operation on a GSD file failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The source could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The bytes do not start with a GSD header.
    #[error("not a GSD file: {0}")]
    NotGsd(&'static str),
    /// The header names a file version that this library does not know.
    #[error("unsupported GSD file version {0}.{1} (known: 0.3, 1.x, 2.x)")]
    UnsupportedVersion(u16, u16),
    /// The file is internally inconsistent.
    #[error("corrupt GSD file: {what}, at byte {at}")]
    Corrupt {
        /// Offset of the faulty structure, in bytes from the start of the file.
        at: u64,
        /// What is wrong there.
        what: String,
    },
    /// A file holds at most 65,535 chunk names.
    #[error("the name list is full: a GSD file holds at most 65535 chunk names")]
    NameListFull,
    /// The caller requested something that the format cannot express.
    #[error("invalid argument: {0}")]
    InvalidArgument(&'static str),
    /// An earlier failure left the state of the file on disk unknown.
    #[error("an earlier write to this file failed: reopen it to continue after its last flush")]
    Latched,
}

impl Error {
    pub(crate) fn corrupt(at: u64, what: impl Into<String>) -> Self {
        Self::Corrupt { at, what: what.into() }
    }
}

/// The result of an operation on a GSD file.
pub type Result<T> = std::result::Result<T, Error>;
