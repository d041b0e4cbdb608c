//! Refusals of this opening: `{"error": {"type", "message"}}`, with the status that belongs to the type.
//!
//! The one place where errors of the store become this protocol's types
//! (<https://documentation.dnanexus.com/developer/api/protocols#errors>). Invariant: a mistake of the client is never a status
//! of 500 or above, since clients repeat those for minutes.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_store::{Error, ErrorKind};
use serde_json::json;

use crate::dnanexus::id::ObjectId;
use crate::problem::Problem;

/// The type of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorType {
    MalformedJson,
    InvalidAuthentication,
    UsernameOrPassword,
    PermissionDenied,
    ResourceNotFound,
    InvalidInput,
    InvalidState,
    InvalidType,
    SpendingLimitExceeded,
    RateLimitConditional,
    ServiceUnavailable,
    InternalError,
}

impl ErrorType {
    fn row(self) -> (&'static str, StatusCode) {
        use StatusCode as S;
        match self {
            Self::MalformedJson => ("MalformedJSON", S::BAD_REQUEST),
            Self::InvalidAuthentication => ("InvalidAuthentication", S::UNAUTHORIZED),
            Self::UsernameOrPassword => ("UsernameOrPasswordError", S::UNAUTHORIZED),
            Self::PermissionDenied => ("PermissionDenied", S::UNAUTHORIZED),
            Self::ResourceNotFound => ("ResourceNotFound", S::NOT_FOUND),
            Self::InvalidInput => ("InvalidInput", S::UNPROCESSABLE_ENTITY),
            Self::InvalidState => ("InvalidState", S::UNPROCESSABLE_ENTITY),
            Self::InvalidType => ("InvalidType", S::UNPROCESSABLE_ENTITY),
            Self::SpendingLimitExceeded => ("SpendingLimitExceeded", S::FORBIDDEN),
            Self::RateLimitConditional => ("RateLimitConditional", S::TOO_MANY_REQUESTS),
            Self::ServiceUnavailable => ("ServiceUnavailable", S::SERVICE_UNAVAILABLE),
            Self::InternalError => ("InternalError", S::INTERNAL_SERVER_ERROR),
        }
    }
}

/// Why a call was refused.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    kind: ErrorType,
    message: String,
    /// Seconds after which to try again.
    retry: Option<u64>,
}

impl Fault {
    pub(crate) fn new(kind: ErrorType, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry: None }
    }

    /// The input is wrong.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorType::InvalidInput, message)
    }

    /// It is not in a state in which this can be done.
    pub(crate) fn state(message: impl Into<String>) -> Self {
        Self::new(ErrorType::InvalidState, message)
    }

    /// It does not exist, or the caller may not see it.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self::new(ErrorType::ResourceNotFound, message)
    }

    /// The caller may see it, but not do this.
    pub(crate) fn denied(message: impl Into<String>) -> Self {
        Self::new(ErrorType::PermissionDenied, message)
    }

    /// There is no such project or object.
    pub(crate) fn no_object(id: impl std::fmt::Display) -> Self {
        Self::missing(format!("The entity \"{id:.64}\" could not be found"))
    }

    /// The object is not in the project.
    pub(crate) fn not_in(id: ObjectId, project: ObjectId) -> Self {
        Self::missing(format!("\"{id}\" is not in the project \"{project}\""))
    }

    /// To be tried again after this many seconds.
    pub(crate) fn later(message: impl Into<String>, seconds: Option<u64>) -> Self {
        Self { retry: seconds, ..Self::new(ErrorType::ServiceUnavailable, message) }
    }

    /// Tried too often: to be tried again after this many seconds.
    pub(crate) fn too_soon(message: impl Into<String>, seconds: u64) -> Self {
        Self { retry: Some(seconds), ..Self::new(ErrorType::RateLimitConditional, message) }
    }

    pub(crate) fn kind(&self) -> ErrorType {
        self.kind
    }

    /// As it is written in an answer.
    pub(crate) fn json(&self) -> serde_json::Value {
        json!({ "type": self.kind.row().0, "message": self.message })
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        use ErrorKind as K;
        let kind = match error.kind() {
            K::Invalid | K::Mismatch | K::TooLarge | K::Range => ErrorType::InvalidInput,
            K::NotFound | K::Expired => ErrorType::ResourceNotFound,
            K::Exists
            | K::WrongKind
            | K::NotEmpty
            | K::Precondition
            | K::Conflict
            | K::Dangling => ErrorType::InvalidState,
            K::Denied => ErrorType::PermissionDenied,
            K::Unauthenticated => ErrorType::InvalidAuthentication,
            K::NoSpace | K::Quota => ErrorType::SpendingLimitExceeded,
            K::ReadOnly | K::Unavailable => ErrorType::ServiceUnavailable,
            K::Damaged | K::Unknown => ErrorType::InternalError,
        };
        let retry = (kind == ErrorType::ServiceUnavailable).then_some(1);
        if kind == ErrorType::InternalError {
            tracing::error!(%error, "a call failed");
        }
        let hint = error.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
        Self { retry, ..Self::new(kind, format!("{error}{hint}")) }
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        if let Some(kind) = problem.store_kind() {
            return Error::new(kind, problem.to_string()).into();
        }
        let retry = problem.retry_after().and_then(|wait| wait.to_str().ok()?.parse().ok());
        let kind = match problem.status() {
            StatusCode::TOO_MANY_REQUESTS => ErrorType::RateLimitConditional,
            StatusCode::SERVICE_UNAVAILABLE => ErrorType::ServiceUnavailable,
            status if status.is_server_error() => ErrorType::InternalError,
            _ => ErrorType::InvalidInput,
        };
        Self { retry, ..Self::new(kind, problem.to_string()) }
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let (name, status) = self.kind.row();
        tracing::debug!(kind = name, "{}", self.message);
        let mut response = (status, Json(json!({ "error": self.json() }))).into_response();
        if let Some(wait) = self.retry {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait));
        }
        response
    }
}
