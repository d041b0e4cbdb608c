//! Staged writing: the content of an upload that was created with `from`.

use axum::body::Body;
use axum::extract::State;
use axum::http::Method;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use cenote_store::{Expected, UploadId};

use super::ranges::indexed;
use super::read::{content, no_page};
use super::write::{Patch, expected, patch_of};
use crate::app::App;
use crate::layer::range::select;
use crate::layer::{PartWriter, Reader};
use crate::native::json::{PatchQuery, StagePatchQuery, StageSize};
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

/// Writes bytes to a stage, at one place or several, appends them, or truncates it. The object does not change.
#[utoipa::path(patch, path = "/v1/uploads/{id}/content", tag = "uploads", params(("id" = String, Path), StagePatchQuery,
    ("cenote-attempt" = Option<u64>, Header, description = "Refused once a higher one has changed the stage")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = StageSize)))]
pub(crate) async fn patch(
    State(app): State<App>,
    PartWriter(caller): PartWriter,
    Segment(id): Segment<String>,
    Params(query): Params<StagePatchQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<StageSize>, Problem> {
    let id = id.parse::<UploadId>()?.attempt(attempt(&headers)?);
    let (expected, store) = (expected(&headers, &body)?, app.store());
    let size = match stage_patch_of(&query)? {
        StagePatch::One(Patch::Truncate(size)) => store.truncate_stage(&caller, id, size).await?,
        StagePatch::One(Patch::Write(position)) => {
            let bytes = body.into_data_stream();
            store.write_stage(&caller, id, position, bytes, &expected).await?
        }
        StagePatch::Ranges(count) => {
            let (ranges, bytes) = indexed(count, body).await?;
            let expected = Expected { length: Some(ranges.bytes()), ..expected };
            store.write_stage(&caller, id, ranges, bytes, &expected).await?
        }
    };
    Ok(Json(StageSize { size }))
}

/// A change of a stage.
enum StagePatch {
    One(Patch),
    /// Writes so many ranges.
    Ranges(usize),
}

fn stage_patch_of(query: &StagePatchQuery) -> Result<StagePatch, Problem> {
    let StagePatchQuery { offset, append, truncate, ranges } = *query;
    match ranges {
        Some(count) if offset.is_none() && !append && truncate.is_none() => {
            Ok(StagePatch::Ranges(count))
        }
        Some(_) => {
            Err(Problem::invalid("`ranges` are written without `offset`, `append` or `truncate`"))
        }
        None => patch_of(&PatchQuery { offset, append, truncate }).map(StagePatch::One),
    }
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
