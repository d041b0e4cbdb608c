//! Responses: JSON with keys in alphabetical order, since some clients read them by position.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::code::Refusal;

/// The outcome of an operation.
pub(crate) type Answer = Result<Response, Refusal>;

/// A JSON response. The keys are sorted here, since another crate of the program may have enabled insertion
/// order in `serde_json`.
pub(crate) fn json(status: StatusCode, mut body: Value) -> Response {
    body.sort_all_objects();
    let json = HeaderValue::from_static("application/json");
    (status, [(header::CONTENT_TYPE, json)], body.to_string()).into_response()
}

/// Success, with no further members.
pub(crate) fn done() -> Answer {
    with(Map::new())
}

/// Success, with these members next to `irods_response`.
pub(crate) fn with(members: Map<String, Value>) -> Answer {
    let mut body = Value::Object(members);
    body["irods_response"] = json!({ "status_code": 0 });
    Ok(json(StatusCode::OK, body))
}

/// Success, with one member.
pub(crate) fn member(name: &str, value: impl Into<Value>) -> Answer {
    with(Map::from_iter([(name.to_owned(), value.into())]))
}

/// Success of an operation with several parts: none of them failed.
pub(crate) fn all_done() -> Answer {
    let body = json!({ "irods_response": { "failed_operation": {}, "status_code": 0 } });
    Ok(json(StatusCode::OK, body))
}

/// One part of an operation failed, and nothing was changed.
pub(crate) fn part_failed(refusal: Refusal, index: usize, operation: &Value) -> Answer {
    let Some(code) = refusal.number() else { return Err(refusal) };
    let Refusal::Coded { message, .. } = refusal else { return Err(refusal) };
    let failed = json!({
        "error_message": message.unwrap_or_default(),
        "operation": operation,
        "operation_index": index,
    });
    let body = json!({ "irods_response": { "failed_operation": failed, "status_code": code } });
    Ok(json(StatusCode::BAD_REQUEST, body))
}
