//! How a command fails: with a kind, which determines the exit code, a message and hints.
//!
//! Invariant: the numbers are promised (`cenote --help`, `docs/cli.md`); a kind
//! never changes its number.

use std::fmt;
use std::io;
use std::process::ExitCode;

/// The result of a command.
pub(crate) type Result<T, E = CliError> = std::result::Result<T, E>;

/// The kind of a failure, which determines the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Any other reason.
    Failed = 1,
    /// The command line or the configuration is wrong.
    Usage = 2,
    /// Not found.
    NotFound = 3,
    /// The name is taken, or the resource is of another kind.
    Exists = 4,
    /// The caller may not do that.
    Denied = 5,
    /// Authentication failed.
    Unauthenticated = 6,
    /// It was changed in the meantime.
    Changed = 7,
    /// Bytes differ from their checksum, or are damaged.
    Mismatch = 8,
    /// No space left, beyond a quota, or too large.
    NoSpace = 9,
    /// The store cannot be reached, or does not accept changes now.
    Unavailable = 10,
    /// Some of many items failed.
    Partial = 11,
    /// A check found differences.
    Found = 12,
    /// It ended, or is no longer kept: a change set, a moment of the past, a position of the change feed.
    Expired = 13,
    /// The user stopped it.
    Interrupted = 130,
}

impl Kind {
    /// Its name in `--json`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::NotFound => "not-found",
            Self::Exists => "exists",
            Self::Denied => "denied",
            Self::Unauthenticated => "unauthenticated",
            Self::Changed => "changed",
            Self::Mismatch => "mismatch",
            Self::NoSpace => "no-space",
            Self::Unavailable => "unavailable",
            Self::Partial => "partial",
            Self::Found => "found",
            Self::Expired => "expired",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Why a verb failed. Shown as it is printed: the message, and a line for each hint.
#[derive(Debug)]
pub(crate) struct CliError {
    kind: Kind,
    message: String,
    hints: Vec<String>,
    /// Standard output was closed by its reader: the error is not reported.
    silent: bool,
    /// Every other item would fail in the same way.
    whole: bool,
}

impl CliError {
    /// An error of this kind; the message is lower case.
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new(), silent: false, whole: false }
    }

    /// Adds what to do next.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Replaces all hints, including those of the server.
    #[must_use]
    pub(crate) fn hinted(self, hint: &str) -> Self {
        Self { hints: vec![hint.to_owned()], ..self }
    }

    /// Replaces the message.
    #[must_use]
    pub(crate) fn with_message(self, message: impl Into<String>) -> Self {
        Self { message: message.into(), ..self }
    }

    /// The user pressed control-C.
    pub(crate) fn interrupted() -> Self {
        Self::new(Kind::Interrupted, "interrupted")
            .hint("run the same command again: completed transfers are not repeated")
    }

    /// The same error once more.
    pub(crate) fn again(&self) -> Self {
        let (hints, whole) = (self.hints.clone(), self.whole);
        Self { hints, whole, ..Self::new(self.kind, self.message.clone()) }
    }

    /// Whether every other item would fail in the same way: the server is unreachable, read-only, or no longer accepts the caller.
    pub(crate) fn ends_all(&self) -> bool {
        self.whole
    }

    /// Some of several items failed, and each has been reported.
    pub(crate) fn partial(failed: u64) -> Self {
        Self::new(Kind::Partial, format!("{failed} failed; the others succeeded"))
            .hint("run the same command again: completed items are skipped")
    }

    /// The same as a failure of another kind.
    pub(crate) fn of_kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// The message, without hints.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// What the exit code will be.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Reports the failure of one of several items on stderr.
    pub(crate) fn report_item(&self, item: &str, json: bool) {
        let message = format!("{item}: {}", self.message);
        Self { message, hints: self.hints.clone(), ..Self::new(self.kind, "") }.report(json);
    }

    /// Reports the error on stderr, and returns the exit code.
    pub(crate) fn report(&self, json: bool) -> ExitCode {
        if self.silent {
            return ExitCode::SUCCESS;
        }
        if json {
            let error = serde_json::json!({
                "error": { "kind": self.kind.as_str(), "message": self.message, "hints": self.hints }
            });
            eprintln!("{error}");
        } else {
            eprintln!("cenote: {self}");
        }
        ExitCode::from(self.kind as u8)
    }
}

impl std::error::Error for CliError {}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.hints.iter().try_for_each(|hint| write!(f, "\n  hint: {hint}"))
    }
}

impl From<cenote_client::Error> for CliError {
    fn from(error: cenote_client::Error) -> Self {
        let kind = kind_of(error.kind());
        use cenote_client::Kind as K;
        let whole = matches!(
            error.kind(),
            K::Unreachable | K::ReadOnly | K::Unauthenticated | K::Changeset
        );
        let mut converted = Self { whole, ..Self::new(kind, error.to_string()) };
        converted.hints.extend(match error.kind() {
            K::Changeset => Some(OUTSIDE.to_owned()),
            _ => error.hint().map(str::to_owned),
        });
        if let (Kind::Failed | Kind::Mismatch, Some(id)) = (kind, error.request_id()) {
            converted.hints.push(format!("see request {id} in the server's log for details"));
        }
        converted
    }
}

const OUTSIDE: &str =
    "run it without --changeset and CENOTE_CHANGESET: it then takes effect at once";

fn kind_of(kind: cenote_client::Kind) -> Kind {
    use cenote_client::Kind as K;
    match kind {
        K::Invalid | K::Changeset | K::Range => Kind::Usage,
        K::Unauthenticated => Kind::Unauthenticated,
        K::Denied => Kind::Denied,
        K::NotFound | K::Dangling => Kind::NotFound,
        K::Exists | K::NotEmpty | K::WrongKind => Kind::Exists,
        K::Conflict | K::Precondition => Kind::Changed,
        K::Expired => Kind::Expired,
        K::TooLarge | K::NoSpace | K::Quota => Kind::NoSpace,
        K::Mismatch | K::Damaged => Kind::Mismatch,
        K::ReadOnly | K::Unavailable | K::Unreachable => Kind::Unavailable,
        _ => Kind::Failed,
    }
}

impl From<cenote_store::Error> for CliError {
    fn from(error: cenote_store::Error) -> Self {
        use cenote_store::ErrorKind as E;
        let kind = match error.kind() {
            E::Exists => Kind::Exists,
            E::NotFound => Kind::NotFound,
            E::Damaged => Kind::Mismatch,
            E::NoSpace => Kind::NoSpace,
            E::Unavailable | E::Unknown => Kind::Unavailable,
            _ => Kind::Failed,
        };
        let refused = Self::new(kind, error.to_string());
        match error.hint() {
            Some(hint) => refused.hint(hint),
            None => refused,
        }
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::NotFound => Kind::NotFound,
            io::ErrorKind::AlreadyExists => Kind::Exists,
            io::ErrorKind::PermissionDenied => Kind::Denied,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Kind::NoSpace,
            _ => Kind::Failed,
        };
        let silent = error.kind() == io::ErrorKind::BrokenPipe;
        Self { silent, ..Self::new(kind, error.to_string()) }
    }
}
