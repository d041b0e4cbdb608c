//! iRODS error codes, and how they are sent. `translation` maps errors of the store to them.
//!
//! Three families, as in the C++ server: an invalid parameter is status 400 without a body; a refusal by the
//! catalog is status 200 with a negative code; something of the wrong kind is status 400 with a code.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::answer;
use crate::layer::CROSS_SITE;
use crate::problem::{CHALLENGE, Problem};

/// An error of iRODS 4.3, by its name there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Code {
    TooManyConnections = -9_000,
    NoApiPrivilege = -13_000,
    ResourceDoesNotExist = -78_000,
    SysCollectionNotEmpty = -79_000,
    NoSpace = -110_000,
    InvalidInput = -130_000,
    Internal = -154_000,
    ReplicaDoesNotExist = -164_000,
    ReplicaInaccessible = -168_000,
    NotACollection = -170_000,
    NotADataObject = -171_000,
    InvalidHandle = -175_000,
    OverwriteWithoutForce = -312_000,
    ChecksumMismatch = -314_000,
    PathDoesNotExist = -358_000,
    IncompatibleParameters = -402_000,
    InvalidReplicaInput = -403_000,
    Locked = -406_000,
    VerificationResults = -407_000,
    BadSql = -806_000,
    NoRows = -808_000,
    AlreadyExists = -809_000,
    InvalidArgument = -816_000,
    NoAccess = -818_000,
    CollectionNotEmpty = -821_000,
    InvalidAuthentication = -826_000,
    InvalidUser = -827_000,
    InvalidResource = -831_000,
    ExistsAsCollection = -833_000,
    UnknownSpecificQuery = -853_000,
    InvalidHostname = -855_000,
    NoChecksum = -862_000,
    TicketInvalid = -890_000,
    NoMicroservice = -1_102_000,
    HierarchyError = -1_803_000,
    DirectChildAccess = -1_816_000,
}

/// Why a call was refused, and how that is reported.
#[derive(Debug, Clone)]
pub(crate) enum Refusal {
    /// A parameter, or the request itself, is invalid: a status and nothing else.
    Plain(StatusCode),
    /// The catalog refuses: a code, with status 200 or another.
    Coded { status: StatusCode, code: Code, message: Option<String> },
    /// A password came too soon after wrong ones: try again after this many seconds.
    TooSoon(u64),
    /// The server failed or is too busy: the status is the same as in all openings, with a code.
    Failed(Problem),
}

impl Refusal {
    pub(crate) const BAD: Self = Self::Plain(StatusCode::BAD_REQUEST);
    /// Too many streams.
    pub(crate) const BUSY: Self = Self::Plain(StatusCode::SERVICE_UNAVAILABLE);

    /// The catalog refuses.
    pub(crate) fn code(code: Code) -> Self {
        Self::Coded { status: StatusCode::OK, code, message: None }
    }

    /// The resource is not of the kind that the operation needs.
    pub(crate) fn wrong_kind(code: Code) -> Self {
        Self::Coded { status: StatusCode::BAD_REQUEST, code, message: None }
    }

    /// A page of another site requests a change.
    pub(crate) fn cross_site() -> Self {
        let message = Some(CROSS_SITE.to_owned());
        Self::Coded { status: StatusCode::FORBIDDEN, code: Code::NoAccess, message }
    }

    #[must_use]
    pub(crate) fn with_message(self, text: &str) -> Self {
        match self {
            Self::Coded { status, code, .. } => {
                Self::Coded { status, code, message: Some(text.to_owned()) }
            }
            other => other,
        }
    }

    /// Changes the status to 400, which some operations on collections use.
    #[must_use]
    pub(crate) fn into_bad_request(self) -> Self {
        match self {
            Self::Coded { code, message, .. } => {
                Self::Coded { status: StatusCode::BAD_REQUEST, code, message }
            }
            other => other,
        }
    }

    pub(crate) fn number(&self) -> Option<i32> {
        match self {
            Self::Coded { code, .. } => Some(*code as i32),
            _ => None,
        }
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Failed(problem)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Self::Plain(StatusCode::UNAUTHORIZED) => {
                (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, CHALLENGE)]).into_response()
            }
            Self::Plain(status) => status.into_response(),
            Self::TooSoon(seconds) => {
                let wait = [(header::RETRY_AFTER, HeaderValue::from(seconds))];
                (StatusCode::TOO_MANY_REQUESTS, wait).into_response()
            }
            Self::Coded { status, code, message } => coded(status, code, message),
            Self::Failed(problem) => failed(&problem, coded),
        }
    }
}

fn coded(status: StatusCode, code: Code, message: Option<String>) -> Response {
    let mut body = json!({ "status_code": code as i32 });
    if let Some(message) = message {
        body["status_message"] = message.into();
    }
    answer::json(status, json!({ "irods_response": body }))
}

/// A failure, in the format that `render` produces for a status, a code and a message.
pub(crate) fn failed(
    problem: &Problem,
    render: impl FnOnce(StatusCode, Code, Option<String>) -> Response,
) -> Response {
    problem.log();
    let code = match problem.is_for_want_of_room() {
        true => Code::TooManyConnections,
        false => Code::Internal,
    };
    let mut response = render(problem.status(), code, Some(problem.to_string()));
    if let Some(wait) = problem.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, wait);
    }
    response
}

#[cfg(test)]
mod tests {
    use cenote_store::{Error, ErrorKind};

    use super::*;

    #[test]
    fn a_refusal_can_be_a_bad_request() {
        let refusal = Refusal::from(Error::new(ErrorKind::NotFound, "gone"));
        assert_eq!(refusal.number(), Some(-358_000));
        assert_eq!(refusal.into_bad_request().into_response().status(), 400);
    }
}
