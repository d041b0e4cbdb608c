//! Errors as a file system reports them: a number for the program, and a message for the log.

use cenote_client::{Error, Kind};

/// A result of an operation.
pub type Result<T, E = Fault> = std::result::Result<T, E>;

/// The log level for a failed operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Part of ordinary work, such as a missing file.
    Quiet,
    /// To be reported: the server is unavailable, or bytes were lost.
    Warning,
}

/// A failed operation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// The error number (`errno(3)`).
    pub errno: i32,
    /// Whether it belongs in the log.
    pub level: Level,
    /// Whether the server could not be reached, so that the same may succeed later.
    pub away: bool,
    /// Whether the server cannot have done anything, since nothing was sent to it.
    pub unsent: bool,
    /// What happened.
    pub message: String,
}

impl Fault {
    /// A failure that is part of ordinary work.
    pub fn new(errno: i32, message: impl Into<String>) -> Self {
        let (level, message) = (Level::Quiet, message.into());
        Self { errno, level, away: false, unsent: false, message }
    }

    /// A failure that belongs in the log.
    pub fn warning(errno: i32, message: impl Into<String>) -> Self {
        Self { level: Level::Warning, ..Self::new(errno, message) }
    }

    pub(crate) fn missing(name: &str) -> Self {
        Self::new(libc::ENOENT, format!("no such file: {name}"))
    }

    pub(crate) fn read_only() -> Self {
        Self::new(libc::EROFS, "the mount is read-only")
    }

    pub(crate) fn late() -> Self {
        Self::warning(libc::EIO, LATE)
    }

    pub(crate) fn is_late(&self) -> bool {
        self.message == LATE
    }

    /// Whether what failed may have been done nevertheless, or may still be done.
    pub(crate) fn may_be_done(&self) -> bool {
        (self.away && !self.unsent) || self.is_late()
    }

    /// The server is known to be away. The operation that found that out was logged.
    pub(crate) fn gone() -> Self {
        Self { away: true, unsent: true, ..Self::new(libc::EIO, GONE) }
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.message == GONE
    }

    /// Not in the cache of a mount that is offline. Programs can distinguish it from a failing disk (`EIO`).
    pub(crate) fn offline() -> Self {
        Self::new(libc::ENETUNREACH, "the mount is offline, and this is not in its cache")
    }
}

const GONE: &str = "the server is away";
const LATE: &str = "the server did not answer before the deadline";

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let errno = errno(error.kind());
        let level = if errno == libc::EIO { Level::Warning } else { Level::Quiet };
        let away = matches!(error.kind(), Kind::Unreachable | Kind::Unavailable);
        Self { errno, level, away, unsent: error.is_unsent(), message: error.to_string() }
    }
}

fn errno(kind: Kind) -> i32 {
    match kind {
        Kind::Invalid | Kind::Range | Kind::Changeset => libc::EINVAL,
        Kind::Unauthenticated | Kind::Denied => libc::EACCES,
        Kind::NotFound => libc::ENOENT,
        Kind::Exists => libc::EEXIST,
        Kind::NotEmpty => libc::ENOTEMPTY,
        Kind::WrongKind => libc::ENOTDIR,
        Kind::Conflict | Kind::Precondition | Kind::Expired => libc::ESTALE,
        Kind::TooLarge => libc::EFBIG,
        Kind::ReadOnly => libc::EROFS,
        Kind::NoSpace => libc::ENOSPC,
        Kind::Quota => libc::EDQUOT,
        Kind::Dangling => libc::EPERM,
        _ => libc::EIO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_not_logged_and_a_lost_server_is() {
        let fault = |kind| Fault::from(Error::new(kind, "x"));
        assert_eq!(fault(Kind::NotFound).errno, libc::ENOENT);
        assert_eq!(fault(Kind::NotFound).level, Level::Quiet);
        for kind in [Kind::Unreachable, Kind::Unavailable, Kind::Damaged, Kind::Protocol] {
            assert_eq!((fault(kind).errno, fault(kind).level), (libc::EIO, Level::Warning));
        }
    }
}
