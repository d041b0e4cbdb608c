//! Uploads: in parts, in any order and repeatedly; or as stages ([`stages`](super::stages)); published at the end.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use cenote_store::{Caller, Completion, Conditions, Expected, PutOptions, UploadId, UploadOptions};

use super::stages::attempt;
use super::write::{answer, expected, place};
use crate::app::App;
use crate::layer::{Changer, PartWriter, Uploader};
use crate::native::json::{
    BegunUpload, Complete, Instant, NewUpload, Part, PartQuery, Resource, UploadState,
};
use crate::native::request::address::{at, destination};
use crate::native::request::extract::{Json, Segment};
use crate::native::request::query::Params;
use crate::native::tree::create::mode;
use crate::problem::{Problem, ProblemKind};

/// Begins an upload.
#[utoipa::path(post, path = "/v1/uploads", tag = "uploads", request_body = NewUpload,
    responses((status = 201, body = BegunUpload)))]
pub(crate) async fn begin(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(question): Json<NewUpload>,
) -> Result<(StatusCode, Json<BegunUpload>), Problem> {
    let at = match (question.parent, question.name.as_deref()) {
        (None, None) => at(question.path.as_deref(), question.id)?,
        (parent, name) if question.id.is_none() => {
            destination(question.path.as_deref(), parent, name)?
        }
        _ => return Err(Problem::invalid("an upload has exactly one target")),
    };
    let options = options(&app, &caller, question)?;
    app.blocking(move |store| {
        let upload = store.begin_upload(&caller, at, &options)?;
        let (id, expires) = (upload.id.to_string(), Instant(upload.expires));
        Ok((StatusCode::CREATED, Json(BegunUpload { id, expires, staged: upload.staged })))
    })
    .await
}

fn options(app: &App, caller: &Caller, question: NewUpload) -> Result<UploadOptions, Problem> {
    let if_absent = match question.if_none_match.as_deref() {
        None => false,
        Some("*") => true,
        Some(_) => return Err(Problem::invalid("`if_none_match` can only be `*`")),
    };
    let if_match = question.if_match.map(|tag| tag.trim_matches('"').to_owned());
    let put = PutOptions {
        conditions: Conditions { if_match, if_absent },
        parents: question.parents,
        media_type: question.media_type,
        mode: mode(question.mode)?,
        mtime: question.mtime.map(|mtime| mtime.0),
        place: place(app, caller, question.place.as_deref())?,
        ..PutOptions::default()
    };
    Ok(UploadOptions { put, size: question.size, stage: question.from.map(Into::into) })
}

/// Stores a part, completely or not at all, unless `keep` asks for whatever arrives.
#[utoipa::path(put, path = "/v1/uploads/{id}/{offset}", tag = "uploads",
    params(("id" = String, Path), ("offset" = u64, Path, description = "Its first byte in the whole"), PartQuery),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = Part)))]
pub(crate) async fn put_part(
    State(app): State<App>,
    PartWriter(caller): PartWriter,
    Segment((id, offset)): Segment<(String, u64)>,
    Params(PartQuery { keep }): Params<PartQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Part>, Problem> {
    let id: UploadId = id.parse()?;
    let expected = Expected { keep_short: keep, ..expected(&headers, &body)? };
    let bytes = body.into_data_stream();
    let taken = async move { app.store().put_part(&caller, id, offset, bytes, &expected).await };
    let part = if keep { outlasting(taken).await? } else { taken.await? };
    Ok(Json(part.into()))
}

/// Continues when the client has disconnected, which would otherwise end the request.
async fn outlasting(
    taken: impl Future<Output = cenote_store::Result<cenote_store::Part>> + Send + 'static,
) -> Result<cenote_store::Part, Problem> {
    let lost = |_| Problem::new(ProblemKind::Internal, "an internal error ended this request");
    Ok(tokio::spawn(taken).await.map_err(lost)??)
}

/// The parts that have arrived, or the size of a stage.
#[utoipa::path(get, path = "/v1/uploads/{id}", tag = "uploads", params(("id" = String, Path)),
    responses((status = 200, body = UploadState)))]
pub(crate) async fn read(
    State(app): State<App>,
    Uploader(caller): Uploader,
    Segment(id): Segment<String>,
) -> Result<Json<UploadState>, Problem> {
    let id: UploadId = id.parse()?;
    app.blocking(move |store| {
        let upload = store.upload(&caller, id)?;
        Ok(Json(UploadState {
            id: upload.id.to_string(),
            path: upload.path.to_string(),
            size: upload.size,
            expires: Instant(upload.expires),
            parts: upload.parts.into_iter().map(Into::into).collect(),
            staged: upload.staged,
        }))
    })
    .await
}

/// Publishes the parts that have arrived, which must have no gaps, or the content of a stage.
#[utoipa::path(post, path = "/v1/uploads/{id}/complete", tag = "uploads",
    params(("id" = String, Path),
        ("cenote-attempt" = Option<u64>, Header, description = "Refused once a higher one has changed the stage")),
    request_body = Complete, responses((status = 200, body = Resource)))]
pub(crate) async fn complete(
    State(app): State<App>,
    Uploader(caller): Uploader,
    Segment(id): Segment<String>,
    headers: HeaderMap,
    Json(question): Json<Complete>,
) -> Result<Json<Resource>, Problem> {
    let id: UploadId = id.parse()?;
    let sha256 = question.sha256.as_deref().map(digest).transpose()?;
    let attempt = attempt(&headers)?;
    let how = Completion { sha256, force: question.force, attempt, ..Completion::default() };
    let stat = app.store().complete_upload(&caller, id, how).await?;
    answer(&app, &caller, stat)
}

/// A SHA-256 in hexadecimal.
pub(crate) fn digest(text: &str) -> Result<[u8; 32], Problem> {
    let mut digest = [0; 32];
    hex::decode_to_slice(text, &mut digest)
        .map(|()| digest)
        .map_err(|_| Problem::invalid("a SHA-256 has 64 hexadecimal digits"))
}

/// Cancels an upload.
#[utoipa::path(delete, path = "/v1/uploads/{id}", tag = "uploads", params(("id" = String, Path)),
    responses((status = 204, description = "Cancelled")))]
pub(crate) async fn abandon(
    State(app): State<App>,
    Uploader(caller): Uploader,
    Segment(id): Segment<String>,
) -> Result<StatusCode, Problem> {
    let id: UploadId = id.parse()?;
    app.blocking(move |store| store.abandon_upload(&caller, id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
