//! Refusals of this opening: a status, a sentence in plain text, and a link to the constraints where the client broke one.
//!
//! The one place where errors of the store become this protocol's statuses.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_store::{Error, ErrorKind};

use crate::problem::{Problem, unanswered};

/// Why a request was refused.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// This opening refuses it; or the store, for a reason of this kind.
    Refused { status: StatusCode, detail: String, headers: HeaderMap, of_store: Option<ErrorKind> },
    /// What all openings answer alike: no login, too much to do, a failure of the server.
    Shared(Problem),
}

impl Fault {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self::Refused { status, detail: detail.into(), headers: HeaderMap::new(), of_store: None }
    }

    /// The request is malformed.
    pub(crate) fn bad(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// It does not exist.
    pub(crate) fn missing(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// The resource has no such method; with those that it has.
    pub(crate) fn method(allow: &str) -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "the resource does not support this method")
            .with(header::ALLOW, allow)
    }

    /// A condition of the request does not hold.
    pub(crate) fn condition() -> Self {
        Self::new(StatusCode::PRECONDITION_FAILED, "the condition does not hold")
    }

    /// With another header.
    #[must_use]
    pub(crate) fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let Self::Refused { headers, .. } = &mut self
            && let Ok(value) = HeaderValue::from_str(value)
        {
            headers.append(name, value);
        }
        self
    }

    /// With another status.
    #[must_use]
    pub(crate) fn with_status(mut self, other: StatusCode) -> Self {
        if let Self::Refused { status, .. } = &mut self {
            *status = other;
        }
        self
    }

    /// With a link to the constraints that the request broke (LDP 1.0, section 4.2.1.6).
    #[must_use]
    pub(crate) fn constrained(self, constraints: &str) -> Self {
        let link = format!("<{constraints}>;rel=\"http://www.w3.org/ns/ldp#constrainedBy\"");
        self.with(header::LINK, &link)
    }

    /// Why the store refused it, if that did.
    pub(crate) fn of_store(&self) -> Option<ErrorKind> {
        match self {
            Self::Refused { of_store, .. } => *of_store,
            Self::Shared(_) => None,
        }
    }

    /// Of a request whose change was made: a failure of the server is not one that says that nothing has happened.
    #[must_use]
    pub(crate) fn after_change(self) -> Self {
        if !self.status().is_server_error() {
            return self;
        }
        match self {
            Self::Refused { detail, .. } => unanswered(detail).into(),
            Self::Shared(problem) => unanswered(problem).into(),
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Refused { status, .. } => *status,
            Self::Shared(problem) => problem.status(),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        use ErrorKind as K;
        let status = match error.kind() {
            K::Mismatch | K::Exists | K::NotEmpty | K::WrongKind | K::Conflict | K::Dangling => {
                StatusCode::CONFLICT
            }
            K::Invalid
            | K::Denied
            | K::NotFound
            | K::Precondition
            | K::Expired
            | K::TooLarge
            | K::Range => Problem::from(&error).status(),
            K::Unauthenticated
            | K::Damaged
            | K::Unknown
            | K::ReadOnly
            | K::Unavailable
            | K::Quota
            | K::NoSpace => return Self::Shared(error.into()),
        };
        let hint = error.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
        Self::Refused {
            status,
            detail: format!("{error}{hint}"),
            headers: HeaderMap::new(),
            of_store: Some(error.kind()),
        }
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        match problem.store_kind() {
            Some(kind) => Error::new(kind, problem.to_string()).into(),
            None => Self::Shared(problem),
        }
    }
}

impl From<cenote_rdf::Inexpressible> for Fault {
    fn from(error: cenote_rdf::Inexpressible) -> Self {
        Self::Shared(error.into())
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused { detail, .. } => detail.fmt(f),
            Self::Shared(problem) => problem.fmt(f),
        }
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        match self {
            Self::Refused { status, detail, headers, .. } => {
                tracing::debug!(%status, "{detail}");
                (status, headers, format!("{detail}\n")).into_response()
            }
            Self::Shared(problem) => problem.into_response(),
        }
    }
}
