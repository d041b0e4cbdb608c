//! Failures as the exceptions of `cenote.store.errors`.

use cenote_client::{Error, Kind};
use pyo3::prelude::*;

/// Why a call failed, until it becomes an exception.
pub(super) enum Failure {
    /// As the client reports it.
    Call(Error),
    /// An exception of a callback.
    Raised(PyErr),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Call(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Raised(error) => error,
            Failure::Call(error) => Python::attach(|py| {
                exception(py, &error).map_or_else(|failed| failed, PyErr::from_value)
            }),
        }
    }
}

/// An instance of the class that `cenote.store.errors` has for the kind.
fn exception<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyAny>> {
    let (kind, code) = (word(error.kind()), number(error));
    let arguments = (kind, error.to_string(), error.hint(), error.request_id(), code);
    py.import("cenote.store.errors")?.getattr("of_kind")?.call1(arguments)
}

/// The number that this machine gave a failure of its own.
fn number(error: &Error) -> Option<i32> {
    let source = std::error::Error::source(error)?;
    source.downcast_ref::<std::io::Error>()?.raw_os_error()
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Invalid => "invalid",
        Kind::Changeset => "changeset",
        Kind::Unauthenticated => "unauthenticated",
        Kind::Denied => "denied",
        Kind::NotFound => "not-found",
        Kind::Exists => "exists",
        Kind::NotEmpty => "not-empty",
        Kind::WrongKind => "wrong-kind",
        Kind::Conflict => "conflict",
        Kind::Precondition => "precondition",
        Kind::Expired => "expired",
        Kind::TooLarge => "too-large",
        Kind::Range => "range",
        Kind::Mismatch => "mismatch",
        Kind::Damaged => "damaged",
        Kind::ReadOnly => "read-only",
        Kind::Unavailable => "unavailable",
        Kind::NoSpace => "no-space",
        Kind::Quota => "quota",
        Kind::Dangling => "dangling",
        Kind::Unreachable => "unreachable",
        Kind::Protocol => "protocol",
        Kind::Local => "local",
        _ => "unknown",
    }
}
