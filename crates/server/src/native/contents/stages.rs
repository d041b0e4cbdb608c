//! Staged writing: the content of an upload that was created with `from`.

use axum::body::Body;
use axum::extract::State;
use axum::http::Method;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use cenote_store::UploadId;

use super::read::{content, no_page};
use super::write::{Patch, expected, patch_of};
use crate::app::App;
use crate::layer::range::select;
use crate::layer::{PartWriter, Reader};
use crate::native::json::{PatchQuery, StageSize};
use crate::native::request::extract::{Json, Segment};
use crate::native::request::query::Params;
use crate::problem::Problem;

/// The content of a stage, or a range of it.
#[utoipa::path(method(get, head), path = "/v1/uploads/{id}/content", tag = "uploads", params(("id" = String, Path)), responses(
    (status = 200, content_type = "application/octet-stream", body = Vec<u8>),
    (status = 206, content_type = "application/octet-stream", body = Vec<u8>),
))]
pub(crate) async fn read(
    State(app): State<App>,
    Reader(caller): Reader,
    Segment(id): Segment<String>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id: UploadId = id.parse()?;
    let staged = app.blocking(move |store| store.open_stage(&caller, id)).await?;
    let range = headers.get(header::RANGE).filter(|_| method == Method::GET);
    let size = staged.size();
    let selection = select(range.and_then(|range| range.to_str().ok()), size);
    let content = content(selection, size, id.number, |range| staged.bytes(range))?;
    let about = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
        (header::ACCEPT_RANGES, HeaderValue::from_static("bytes")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((about, no_page(), content).into_response())
}

/// Writes bytes to a stage, appends them, or truncates it. The object does not change.
#[utoipa::path(patch, path = "/v1/uploads/{id}/content", tag = "uploads", params(("id" = String, Path), PatchQuery,
    ("cenote-attempt" = Option<u64>, Header, description = "Refused once a higher one has changed the stage")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = StageSize)))]
pub(crate) async fn patch(
    State(app): State<App>,
    PartWriter(caller): PartWriter,
    Segment(id): Segment<String>,
    Params(query): Params<PatchQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<StageSize>, Problem> {
    let id = id.parse::<UploadId>()?.attempt(attempt(&headers)?);
    let size = match patch_of(&query)? {
        Patch::Truncate(size) => app.store().truncate_stage(&caller, id, size).await?,
        Patch::Write(position) => {
            let expected = expected(&headers, &body)?;
            let bytes = body.into_data_stream();
            app.store().write_stage(&caller, id, position, bytes, &expected).await?
        }
    };
    Ok(Json(StageSize { size }))
}

/// Which attempt a change of a stage is: a client counts them up once it gave one up without an answer.
const ATTEMPT: HeaderName = HeaderName::from_static("cenote-attempt");

/// The attempt of a request; the first one without a header.
pub(super) fn attempt(headers: &HeaderMap) -> Result<u64, Problem> {
    let Some(value) = headers.get(ATTEMPT) else { return Ok(0) };
    let number = value.to_str().ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    number
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| Problem::invalid("`Cenote-Attempt` is a number"))
}
