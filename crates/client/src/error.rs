//! Errors, classified by what the caller should do about them.

use std::io;

use http::StatusCode;
use serde::Deserialize;

use crate::dnanexus;
use crate::transport::TransportError;
use crate::transport::fault::{self, Fault};

/// A result of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong. The kinds from the server are those of `docs/native-api.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The request is invalid.
    Invalid,
    /// A change set cannot do that.
    Changeset,
    /// Authentication failed.
    Unauthenticated,
    /// The caller does not have permission.
    Denied,
    /// The resource does not exist, or the caller may not see it.
    NotFound,
    /// The name is taken.
    Exists,
    /// The collection has children.
    NotEmpty,
    /// The existing resource is of another kind.
    WrongKind,
    /// Somebody else changed the same thing concurrently.
    Conflict,
    /// A condition does not hold.
    Precondition,
    /// A position or cursor is no longer kept.
    Expired,
    /// Larger than a limit.
    TooLarge,
    /// The range is outside the content.
    Range,
    /// Bytes differ from their length or checksum.
    Mismatch,
    /// Stored bytes are damaged.
    Damaged,
    /// The change may or may not have happened.
    Unknown,
    /// The store accepts no changes until it is restarted.
    ReadOnly,
    /// The store is busy, or part of it is currently unreachable.
    Unavailable,
    /// The store has no space left.
    NoSpace,
    /// A quota does not allow it.
    Quota,
    /// A link has no target, and the collection refuses that.
    Dangling,
    /// The server could not be reached, or the connection was lost.
    Unreachable,
    /// The response is not from a cenote server.
    Protocol,
    /// Something on this machine failed, such as a local file.
    Local,
}

impl Kind {
    /// From the last component of a problem's type.
    fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "invalid" => Self::Invalid,
            "changeset" => Self::Changeset,
            "unauthenticated" => Self::Unauthenticated,
            "denied" => Self::Denied,
            "not-found" => Self::NotFound,
            "exists" => Self::Exists,
            "not-empty" => Self::NotEmpty,
            "wrong-kind" => Self::WrongKind,
            "conflict" => Self::Conflict,
            "precondition" => Self::Precondition,
            "expired" => Self::Expired,
            "too-large" => Self::TooLarge,
            "range" => Self::Range,
            "mismatch" => Self::Mismatch,
            "damaged" => Self::Damaged,
            "unknown" => Self::Unknown,
            "read-only" => Self::ReadOnly,
            "unavailable" => Self::Unavailable,
            "no-space" => Self::NoSpace,
            "quota" => Self::Quota,
            "dangling" => Self::Dangling,
            _ => return None,
        })
    }

    /// From the status alone, for responses of proxies and to HEAD.
    fn from_status(status: StatusCode) -> Self {
        match status.as_u16() {
            400 | 405 | 414 | 431 => Self::Invalid,
            401 => Self::Unauthenticated,
            403 => Self::Denied,
            404 => Self::NotFound,
            409 => Self::Conflict,
            410 => Self::Expired,
            412 => Self::Precondition,
            413 => Self::TooLarge,
            416 => Self::Range,
            422 => Self::Mismatch,
            429 | 502 | 503 | 504 => Self::Unavailable,
            507 => Self::NoSpace,
            _ => Self::Protocol,
        }
    }

    /// Whether a proxy in front of the store can report it.
    fn is_of_proxy(self) -> bool {
        matches!(
            self,
            Self::Invalid
                | Self::Unauthenticated
                | Self::Denied
                | Self::TooLarge
                | Self::Unavailable
        )
    }
}

/// The hint if the response is that of another program.
const ANOTHER: &str = "check that this is the address of a cenote server of a compatible version";

/// A failed call.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: Kind,
    message: String,
    hint: Option<String>,
    request_id: Option<String>,
    /// Whether retrying is useless, whatever the kind.
    lasting: bool,
    /// Whether nothing of the request has left this machine.
    unsent: bool,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of this kind; the message is lower case.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        let message = message.into();
        let (hint, request_id, source) = (None, None, None);
        Self { kind, message, hint, request_id, lasting: false, unsent: false, source }
    }

    /// What went wrong.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What to do next, in a sentence.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The id of the request in the server's log.
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }

    /// Whether there was no connection to send the request over, so that the server has done nothing, and any call can be repeated.
    pub fn is_unsent(&self) -> bool {
        self.unsent
    }

    /// Whether retrying is useless, although errors of this kind are usually transient.
    pub(crate) fn is_lasting(&self) -> bool {
        self.lasting
    }

    /// A copy of the error, for another item that it affects.
    pub(crate) fn again(&self) -> Self {
        Self {
            kind: self.kind,
            message: self.message.clone(),
            hint: self.hint.clone(),
            request_id: self.request_id.clone(),
            lasting: self.lasting,
            unsent: self.unsent,
            source: None,
        }
    }

    /// Adds what to do next, in a sentence.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same error, with another hint after the one that it has.
    pub(crate) fn with_further_hint(self, further: &str) -> Self {
        let hint = match self.hint() {
            Some(hint) => format!("{hint}; {further}"),
            None => further.to_owned(),
        };
        self.with_hint(hint)
    }

    /// A local file that could not be read or written.
    pub(crate) fn local(doing: impl std::fmt::Display, error: io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::NotFound => Kind::NotFound,
            io::ErrorKind::PermissionDenied => Kind::Denied,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Kind::NoSpace,
            _ => Kind::Local,
        };
        Self { source: Some(error.into()), ..Self::new(kind, String::new()) }.describe(doing)
    }

    fn describe(mut self, doing: impl std::fmt::Display) -> Self {
        let cause = self.source.as_ref().map(ToString::to_string).unwrap_or_default();
        self.message = format!("{doing}: {cause}");
        self
    }

    /// A response that cannot be understood.
    pub(crate) fn protocol(what: impl std::fmt::Display) -> Self {
        Self::new(Kind::Protocol, format!("invalid response: {what}")).with_hint(ANOTHER)
    }

    /// The error for an unsuccessful response.
    pub(crate) fn from_answer(status: StatusCode, body: &[u8]) -> Self {
        if let Some((kind, message)) = dnanexus::refusal(body) {
            return Self::new(kind, message);
        }
        match serde_json::from_slice::<Problem>(body) {
            Ok(problem) => problem.into_error(status),
            Err(_) => Self::new(Kind::from_status(status), response_message(status, body)),
        }
    }

    /// The same for a call of the native opening: only the store itself knows what is there, and it sends structured errors.
    pub(crate) fn from_store(status: StatusCode, body: &[u8]) -> Self {
        let error = Self::from_answer(status, body);
        let is_of_store = serde_json::from_slice::<Problem>(body).is_ok();
        match is_of_store || error.kind.is_of_proxy() {
            true => error,
            false => Self::new(Kind::Protocol, error.message).with_hint(ANOTHER),
        }
    }
}

/// The message for a response that is not a structured error: its status, and its body if that is short text.
fn response_message(status: StatusCode, body: &[u8]) -> String {
    let text = std::str::from_utf8(body).unwrap_or_default().trim();
    match !text.is_empty() && text.len() < 400 && !text.contains(['<', '\n']) {
        true => format!("the server answered {status}: {text}"),
        false => format!("the server answered {status}"),
    }
}

impl From<TransportError> for Error {
    fn from(error: TransportError) -> Self {
        let unsent = fault::is_unsent(error.0.as_ref());
        if let Some(Fault { message, hint }) = fault::of(error.0.as_ref()) {
            let source = Some(Box::new(error) as _);
            let message = format!("the store cannot be reached: {message}");
            return Self { source, lasting: true, unsent, ..Self::new(Kind::Unreachable, message) }
                .with_hint(hint);
        }
        let source = Some(Box::new(error) as _);
        Self { source, unsent, ..Self::new(Kind::Unreachable, String::new()) }
            .with_hint("check that the server is running and that the address is correct")
            .describe("the store cannot be reached")
    }
}

/// Problem details (RFC 9457), as the server sends them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Problem {
    /// `urn:cenote:problem:` and the kind.
    pub r#type: String,
    /// The kind, in words.
    pub title: String,
    /// What happened.
    pub detail: Option<String>,
    /// What to do next.
    pub hint: Option<String>,
    /// The id of the request in the server's log.
    pub request_id: Option<String>,
    /// The status.
    pub status: Option<u16>,
}

impl Problem {
    fn into_error(self, status: StatusCode) -> Error {
        let word = self.r#type.rsplit(':').next().unwrap_or_default();
        let kind = Kind::from_word(word).unwrap_or_else(|| Kind::from_status(status));
        Error {
            hint: self.hint,
            request_id: self.request_id,
            ..Error::new(kind, self.detail.unwrap_or(self.title))
        }
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        let status = problem.status.and_then(|status| StatusCode::from_u16(status).ok());
        problem.into_error(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_keeps_its_kind_detail_and_hint() {
        let body = br#"{"type":"urn:cenote:problem:read-only","title":"Read-only","status":503,
            "detail":"the disk failed","hint":"restart it","request_id":"01HF"}"#;
        let error = Error::from_answer(StatusCode::SERVICE_UNAVAILABLE, body);
        assert_eq!(error.kind(), Kind::ReadOnly);
        assert_eq!(error.to_string(), "the disk failed");
        assert_eq!((error.hint(), error.request_id()), (Some("restart it"), Some("01HF")));
    }

    #[test]
    fn a_response_of_a_proxy_is_classified_by_its_status() {
        let error = Error::from_answer(StatusCode::BAD_GATEWAY, b"<html>");
        assert_eq!(error.kind(), Kind::Unavailable);
    }

    #[test]
    fn a_response_of_another_server_says_nothing_about_the_store() {
        for (status, kind) in [
            (StatusCode::NOT_FOUND, Kind::Protocol),
            (StatusCode::CONFLICT, Kind::Protocol),
            (StatusCode::INTERNAL_SERVER_ERROR, Kind::Protocol),
            (StatusCode::PAYLOAD_TOO_LARGE, Kind::TooLarge),
            (StatusCode::BAD_GATEWAY, Kind::Unavailable),
        ] {
            let error = Error::from_store(status, b"<html>");
            assert_eq!((error.kind(), error.hint().is_some()), (kind, kind == Kind::Protocol));
        }
        let problem = br#"{"type":"urn:cenote:problem:not-found","title":"","status":404}"#;
        let error = Error::from_store(StatusCode::NOT_FOUND, problem);
        assert_eq!(error.kind(), Kind::NotFound);
    }
}
