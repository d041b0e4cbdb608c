//! The errors of this opening: RFC 9457 problem details.
//!
//! Invariant: every answer of status 400 and above is a [`Problem`]. A handler returns one; it
//! travels as an extension of the response, and the outermost layer writes its body with the
//! id of the request.

use std::borrow::Cow;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_store::{Error, ErrorKind, Exceeded};
use serde::Serialize;
use utoipa::ToSchema;

use crate::layer::RequestId;

/// The challenge in a response of status 401.
pub(crate) const CHALLENGE: &str = "Basic realm=\"cenote\", charset=\"UTF-8\", Bearer";

/// Why a request was refused or failed.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    kind: ProblemKind,
    detail: String,
    hint: Option<Cow<'static, str>>,
    /// The size of the content, if a range is outside it.
    size: Option<u64>,
    /// The quota that does not allow it.
    exceeded: Option<Box<Exceeded>>,
    /// Seconds after which to try again.
    retry: Option<u64>,
}

/// The store's kinds of errors, and those that occur before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProblemKind {
    Store(ErrorKind),
    /// No route has this path.
    NoRoute,
    /// The route has no such method.
    Method,
    /// The body is not of a type that the route takes.
    MediaType,
    /// No form of the answer is acceptable.
    NotAcceptable,
    /// The content is not of the format that the route reads.
    Format,
    /// The request cannot be part of a change set.
    Changeset,
    /// A page of another site requested a change.
    CrossSite,
    /// The body is in a transfer coding that is not known here.
    Coding,
    /// A password came too soon after wrong ones.
    TooSoon,
    /// The client stopped sending.
    Timeout,
    /// The caller has too many requests in progress.
    TooMany,
    /// The server has too much to do.
    Overloaded,
    /// A fault of the server.
    Internal,
}

impl ProblemKind {
    /// The last word of its type, its status, and its title.
    fn row(self) -> (&'static str, StatusCode, &'static str) {
        use StatusCode as S;
        match self {
            Self::Store(kind) => store_row(kind),
            Self::NoRoute => ("no-route", S::NOT_FOUND, "No such route"),
            Self::Method => {
                ("method", S::METHOD_NOT_ALLOWED, "The route does not support this method")
            }
            Self::MediaType => (
                "media-type",
                S::UNSUPPORTED_MEDIA_TYPE,
                "The media type of the body is not supported",
            ),
            Self::NotAcceptable => {
                ("not-acceptable", S::NOT_ACCEPTABLE, "No acceptable format is available")
            }
            Self::Format => {
                ("format", S::UNPROCESSABLE_ENTITY, "The content does not have this format")
            }
            Self::Changeset => ("changeset", S::CONFLICT, "Not possible in a change set"),
            Self::CrossSite => ("cross-site", S::FORBIDDEN, "Request from a page of another site"),
            Self::Coding => ("coding", S::NOT_IMPLEMENTED, "The transfer coding is not supported"),
            Self::TooSoon => ("too-soon", S::TOO_MANY_REQUESTS, "Too soon after wrong passwords"),
            Self::Timeout => ("timeout", S::REQUEST_TIMEOUT, "The request arrived too slowly"),
            Self::TooMany => ("too-many", S::TOO_MANY_REQUESTS, "Too many requests at a time"),
            Self::Overloaded => ("overloaded", S::SERVICE_UNAVAILABLE, "The server is overloaded"),
            Self::Internal => ("internal", S::INTERNAL_SERVER_ERROR, "The server failed"),
        }
    }
}

fn store_row(kind: ErrorKind) -> (&'static str, StatusCode, &'static str) {
    use ErrorKind as K;
    use StatusCode as S;
    match kind {
        K::Invalid => ("invalid", S::BAD_REQUEST, "The request is invalid"),
        K::Unauthenticated => ("unauthenticated", S::UNAUTHORIZED, "Authentication failed"),
        K::Denied => ("denied", S::FORBIDDEN, "Not allowed"),
        K::NotFound => ("not-found", S::NOT_FOUND, "Not found"),
        K::Exists => ("exists", S::CONFLICT, "The name is taken"),
        K::NotEmpty => ("not-empty", S::CONFLICT, "The collection is not empty"),
        K::WrongKind => ("wrong-kind", S::CONFLICT, "The resource is of another kind"),
        K::Conflict => ("conflict", S::CONFLICT, "Somebody else changed it at the same time"),
        K::Precondition => ("precondition", S::PRECONDITION_FAILED, "A condition does not hold"),
        K::Expired => ("expired", S::GONE, "It is no longer kept"),
        K::TooLarge => ("too-large", S::PAYLOAD_TOO_LARGE, "Larger than allowed"),
        K::Range => ("range", S::RANGE_NOT_SATISFIABLE, "The range is outside the content"),
        K::Mismatch => {
            ("mismatch", S::UNPROCESSABLE_ENTITY, "The bytes differ from those announced")
        }
        K::Damaged => ("damaged", S::INTERNAL_SERVER_ERROR, "Stored bytes are damaged"),
        K::Unknown => ("unknown", S::INTERNAL_SERVER_ERROR, "The change may have happened or not"),
        K::ReadOnly => ("read-only", S::SERVICE_UNAVAILABLE, "The store accepts no changes"),
        K::Unavailable => {
            ("unavailable", S::SERVICE_UNAVAILABLE, "A part of the store is unavailable")
        }
        K::NoSpace => ("no-space", S::INSUFFICIENT_STORAGE, "No space left"),
        K::Dangling => ("dangling", S::CONFLICT, "The target of a link does not exist"),
        K::Quota => ("quota", S::INSUFFICIENT_STORAGE, "A quota does not allow it"),
    }
}

impl Problem {
    pub(crate) fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), hint: None, size: None, exceeded: None, retry: None }
    }

    /// The request itself is wrong.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(ProblemKind::Store(ErrorKind::Invalid), detail)
    }

    /// The range is outside a content of `size` bytes.
    pub(crate) fn range(size: u64) -> Self {
        let kind = ProblemKind::Store(ErrorKind::Range);
        let detail = format!("the range is outside the {size} bytes of the content");
        Self { size: Some(size), ..Self::new(kind, detail) }
    }

    /// A password came too soon after wrong ones.
    pub(crate) fn too_soon(wait: Duration) -> Self {
        let seconds = whole_seconds(wait);
        let detail = format!("too many wrong passwords: the next may come in {seconds} s");
        let problem = Self::new(ProblemKind::TooSoon, detail);
        Self { retry: Some(seconds), ..problem }.with_hint("wait, or use a token")
    }

    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.kind.row().1
    }

    /// The store's kind, if the store would have refused it.
    pub(crate) fn store_kind(&self) -> Option<ErrorKind> {
        match self.kind {
            ProblemKind::Store(kind) => Some(kind),
            _ => None,
        }
    }

    /// As JSON, for this request.
    pub(crate) fn body(&self, request: Option<&RequestId>) -> ProblemBody {
        let (name, status, title) = self.kind.row();
        let exceeded = self.exceeded.as_deref();
        ProblemBody {
            r#type: format!("urn:cenote:problem:{name}"),
            title,
            status: status.as_u16(),
            detail: self.detail.clone(),
            hint: self.hint.clone(),
            quota: exceeded.map(|exceeded| exceeded.quota.clone()),
            measure: exceeded.map(|exceeded| exceeded.measure.as_str()),
            limit: exceeded.map(|exceeded| exceeded.limit),
            total: exceeded.map(|exceeded| exceeded.total),
            request_id: request.map(ToString::to_string),
        }
    }

    /// Whether it would have been answered if there were fewer requests.
    pub(crate) fn is_for_want_of_room(&self) -> bool {
        matches!(self.kind, ProblemKind::TooMany | ProblemKind::Overloaded)
    }

    /// Seconds after which to try again, if that may help.
    pub(crate) fn retry_after(&self) -> Option<HeaderValue> {
        let is_passing = matches!(
            self.status(),
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS
        );
        self.retry.or(is_passing.then_some(1)).map(HeaderValue::from)
    }

    pub(crate) fn log(&self) {
        let Self { kind, detail, .. } = self;
        match self.status().is_server_error() {
            true => tracing::error!(?kind, "{detail}"),
            false => tracing::debug!(?kind, "{detail}"),
        }
    }

    fn add_headers(&self, headers: &mut HeaderMap) {
        let json = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, json);
        if self.status() == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(CHALLENGE));
        }
        if let Some(wait) = self.retry_after() {
            headers.insert(header::RETRY_AFTER, wait);
        }
        if let Some(size) = self.size {
            let range = HeaderValue::try_from(format!("bytes */{size}"));
            headers.insert(header::CONTENT_RANGE, range.expect("digits are visible ASCII"));
        }
    }
}

/// The value of `Retry-After`: rounded up, so that the next attempt is not too soon.
pub(crate) fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

impl From<cenote_store::Error> for Problem {
    fn from(error: cenote_store::Error) -> Self {
        Self::from(&error)
    }
}

impl From<&cenote_store::Error> for Problem {
    fn from(error: &cenote_store::Error) -> Self {
        let hint = error.hint().map(Cow::Borrowed);
        let exceeded = error.exceeded().cloned().map(Box::new);
        Self { hint, exceeded, ..Self::new(ProblemKind::Store(error.kind()), error.to_string()) }
    }
}

impl From<cenote_rdf::Inexpressible> for Problem {
    fn from(error: cenote_rdf::Inexpressible) -> Self {
        Self::new(ProblemKind::NotAcceptable, error.to_string()).with_hint(
            "graphs: Turtle, N-Triples, JSON-LD and N3 can; results of queries: JSON, CSV and TSV",
        )
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.detail.fmt(f)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Writes the body of a response that carries a problem.
pub(crate) fn render(mut response: Response, request: &RequestId) -> Response {
    let Some(problem) = response.extensions_mut().remove::<Problem>() else { return response };
    problem.log();
    let body = serde_json::to_vec(&problem.body(Some(request)));
    *response.body_mut() = body.expect("strings and a number are JSON").into();
    response.headers_mut().remove(header::CONTENT_LENGTH);
    problem.add_headers(response.headers_mut());
    response
}

/// Problem details as RFC 9457 has them, with two members of our own.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemBody {
    /// `urn:cenote:problem:` and the kind.
    #[schema(example = "urn:cenote:problem:not-found")]
    r#type: String,
    /// The kind, for people.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// What happened, with what it is about.
    detail: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<Cow<'static, str>>,
    /// Of a quota that does not allow it: the path of the collection, or `user NAME`, or `group NAME`.
    #[schema(example = "/lab")]
    #[serde(skip_serializing_if = "Option::is_none")]
    quota: Option<String>,
    /// What there would be too much of: `bytes` or `resources`.
    #[serde(skip_serializing_if = "Option::is_none")]
    measure: Option<&'static str>,
    /// The limit of the quota.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    /// How much there is without the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
    /// The request, as in the log and in `X-Request-Id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
}
/// The error for a change that was made, if its answer cannot be read: not one that says that nothing has happened.
pub(crate) fn unanswered(reason: impl std::fmt::Display) -> Error {
    let message = format!("the change was made, but its answer could not be read: {reason}");
    Error::new(ErrorKind::Unknown, message).with_hint("look whether it has the effect you want")
}
