//! Errors, classified by what the caller should do about them. Every opening
//! translates these kinds, exhaustively, in one place of its own.

use cenote_blob as blob;
use cenote_kv as kv;

use crate::Exceeded;
use crate::catalog::damage;

/// A result of the heart.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A refused or failed request: nothing was changed, unless the kind is
/// [`ErrorKind::Unknown`].
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: Option<&'static str>,
    exceeded: Option<Box<Exceeded>>,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What the caller should do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The request itself is wrong: repair it.
    Invalid,
    /// It does not exist, or the caller may not see it.
    NotFound,
    /// The name is taken.
    Exists,
    /// The resource is of another kind (a collection where an object is needed).
    WrongKind,
    /// The collection has children.
    NotEmpty,
    /// The caller may see it, but not do this.
    Denied,
    /// Who the caller claims to be could not be verified.
    Unauthenticated,
    /// A condition (`if-match`, `if-none-match`) does not hold.
    Precondition,
    /// Somebody else changed the same thing at the same time: try again.
    Conflict,
    /// The requested data existed once, and is no longer kept: start again.
    Expired,
    /// The range is outside the content.
    Range,
    /// The bytes received are not the bytes announced (length or checksum).
    Mismatch,
    /// Larger than a limit of this store.
    TooLarge,
    /// No space left: reading continues.
    NoSpace,
    /// There would be more than a quota allows: [`Error::exceeded`] has which one.
    Quota,
    /// An earlier write failed: the store takes no changes until it is restarted.
    ReadOnly,
    /// A part of the store cannot be reached now: try again later.
    Unavailable,
    /// Stored bytes are damaged: run `cenote check`.
    Damaged,
    /// A link leads to nothing, where the collection refuses that.
    Dangling,
    /// The change may or may not have happened: look before trying again.
    Unknown,
}

impl Error {
    /// An error of this kind; the message is lower case, with what it is about last.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, exceeded: None, source: None }
    }

    /// Adds what the caller could do next.
    #[must_use]
    pub fn with_hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }

    pub(crate) fn with_exceeded(mut self, exceeded: Exceeded) -> Self {
        self.exceeded = Some(Box::new(exceeded));
        self
    }

    /// The quota that does not allow it, for [`ErrorKind::Quota`].
    pub fn exceeded(&self) -> Option<&Exceeded> {
        self.exceeded.as_deref()
    }

    fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// What the caller should do.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether the request itself was refused, before it wrote anything; not because the
    /// store failed.
    pub(crate) fn is_refusal(&self) -> bool {
        use ErrorKind as K;
        !matches!(
            self.kind,
            K::Conflict | K::NoSpace | K::ReadOnly | K::Unavailable | K::Damaged | K::Unknown
        )
    }

    /// What the caller could do next, in a sentence.
    pub fn hint(&self) -> Option<&'static str> {
        self.hint
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    pub(crate) fn not_found(what: impl std::fmt::Display) -> Self {
        Self::new(ErrorKind::NotFound, format!("nothing is at {what}"))
            .with_hint("check the spelling, or whether you may read it")
    }

    pub(crate) fn exists(what: impl std::fmt::Display) -> Self {
        Self::new(ErrorKind::Exists, format!("the name is taken: {what}"))
    }

    pub(crate) fn damaged(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Damaged, message)
            .with_hint("run `cenote check` on the store to find the extent of the damage")
    }
}

impl From<kv::Error> for Error {
    fn from(error: kv::Error) -> Self {
        let kind = match &error {
            kv::Error::Corrupt(_) => {
                damage::note(&error.to_string());
                ErrorKind::Damaged
            }
            _ => ErrorKind::Unavailable,
        };
        Self::new(kind, error.to_string()).with_source(error)
    }
}

impl From<blob::Error> for Error {
    fn from(error: blob::Error) -> Self {
        use blob::Error as E;
        let (kind, hint) = match &error {
            E::NotFound { .. } | E::Damaged { .. } => (
                ErrorKind::Damaged,
                "run `cenote check` on the store to find the extent of the damage",
            ),
            E::NoSpace { .. } => (
                ErrorKind::NoSpace,
                "free some space, empty the trash (`cenote trash empty`), or add a place",
            ),
            _ => (ErrorKind::Unavailable, "try again later"),
        };
        Self::new(kind, error.to_string()).with_hint(hint).with_source(error)
    }
}

impl From<kv::CommitError> for Error {
    fn from(error: kv::CommitError) -> Self {
        use kv::CommitError as E;
        let (kind, hint) = match &error {
            E::Conflict { .. } => (ErrorKind::Conflict, "try again"),
            E::TooLarge(_) => (ErrorKind::TooLarge, "split the request into smaller ones"),
            E::Latched => (ErrorKind::ReadOnly, "restart the server once the disk works again"),
            E::NoSpace => (
                ErrorKind::NoSpace,
                "free some space on the catalog's disk, or empty the trash (`cenote trash empty`)",
            ),
            E::Unknown(_) => (ErrorKind::Unknown, "check whether the change was made"),
            _ => (ErrorKind::Unavailable, "try again later"),
        };
        Self::new(kind, error.to_string()).with_hint(hint).with_source(error)
    }
}
