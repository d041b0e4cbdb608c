//! The check of the whole store, for administrators.

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use cenote_store::{Act, CheckOptions};
use futures_util::TryStreamExt;

use crate::app::App;
use crate::layer::Viewer;
use crate::native::json::{Check, Finding};
use crate::native::request::extract::Json;
use crate::problem::Problem;

/// Recomputes indexes, counters and references, and reads contents; one finding a line.
#[utoipa::path(post, path = "/v1/check", tag = "status", request_body = Check,
    responses((status = 200, body = Finding, content_type = "application/x-ndjson")))]
pub(crate) async fn check(
    State(app): State<App>,
    Viewer(caller): Viewer,
    Json(question): Json<Check>,
) -> Result<Response, Problem> {
    caller.require(Act::Inspect)?;
    if question.contents_percent > 100 {
        return Err(Problem::invalid("`contents_percent` is at most 100"));
    }
    let Check { contents_percent: contents, repair } = question;
    let findings = app.store().check(CheckOptions { repair, contents });
    // A check that fails midway interrupts the answer.
    let lines = findings.map_ok(|finding| line(&finding.into()));
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(lines)).into_response())
}

fn line(finding: &Finding) -> Bytes {
    let mut line = serde_json::to_vec(finding).expect("a finding is JSON");
    line.push(b'\n');
    line.into()
}
