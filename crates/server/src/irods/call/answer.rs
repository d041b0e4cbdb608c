//! Answers: JSON whose keys are in alphabetical order, since clients read some by position.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::code::Refusal;

/// What an operation answers.
pub(crate) type Answer = Result<Response, Refusal>;

/// A JSON answer. The keys are sorted here, since another crate of the program may have asked
/// `serde_json` to keep them as they were put.
pub(crate) fn json(status: StatusCode, mut body: Value) -> Response {
    body.sort_all_objects();
    let json = HeaderValue::from_static("application/json");
    (status, [(header::CONTENT_TYPE, json)], body.to_string()).into_response()
}

/// Done, and nothing else to say.
pub(crate) fn done() -> Answer {
    with(Map::new())
}

/// Done, with these members beside `irods_response`.
pub(crate) fn with(members: Map<String, Value>) -> Answer {
    let mut body = Value::Object(members);
    body["irods_response"] = json!({ "status_code": 0 });
    Ok(json(StatusCode::OK, body))
}

/// Done, with one member.
pub(crate) fn member(name: &str, value: impl Into<Value>) -> Answer {
    with(Map::from_iter([(name.to_owned(), value.into())]))
}

/// Done, for an operation of several parts: none of them failed.
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
