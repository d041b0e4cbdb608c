//! Bytes in: a whole content, or a part of one in place. A write that fails has no visible effect.

use axum::body::{Body, HttpBody};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_store::{At, Caller, Conditions, Expected, PlaceId, PutOptions, Stat, Where};

use crate::app::App;
use crate::layer::Writer;
use crate::native::json::{PatchQuery, PutQuery, Resource};
use crate::native::request::address::{About, AboutChild};
use crate::native::request::conditional::write_conditions;
use crate::native::request::digest;
use crate::native::request::extract::Json;
use crate::native::tree::create::mode;
use crate::problem::Problem;

/// Creates an object, or replaces its content. An id refers to an existing object, whatever its path is by then.
#[utoipa::path(put, path = "/v1/fs/{*path}", tag = "bytes", params(PutQuery),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 201, body = Resource), (status = 200, body = Resource)))]
pub(crate) async fn put(
    State(app): State<App>,
    Writer(caller): Writer,
    AboutChild(at, query): AboutChild<PutQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let options = PutOptions {
        conditions: write_conditions(&headers)?,
        expected: expected(&headers, &body)?,
        parents: query.parents,
        media_type: media_type(&headers),
        mode: mode(query.mode)?,
        mtime: query.mtime.map(|mtime| mtime.0),
        place: place(&app, &caller, query.place.as_deref())?,
    };
    let stat = app.store().put(&caller, at, body.into_data_stream(), options).await?;
    let created = stat.resource.revision == 1;
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, answer(&app, &caller, stat)?).into_response())
}

/// The place of this name.
pub(crate) fn place(
    app: &App,
    caller: &Caller,
    name: Option<&str>,
) -> Result<Option<PlaceId>, Problem> {
    let named = |name| app.quick(|store| store.place_named(caller, name));
    name.map(named).transpose()
}

/// Writes bytes in place, appends them, or truncates the content.
#[utoipa::path(patch, path = "/v1/fs/{*path}", tag = "bytes", params(PatchQuery),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = Resource)))]
pub(crate) async fn patch(
    State(app): State<App>,
    Writer(caller): Writer,
    About(at, query): About<PatchQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Resource>, Problem> {
    let conditions = write_conditions(&headers)?;
    let stat = match patch_of(&query)? {
        Patch::Truncate(size) => truncate(&app, caller.clone(), at, size, conditions).await?,
        Patch::Write(position) => {
            let how = (&conditions, &expected(&headers, &body)?);
            app.store().write_at(&caller, &at, position, body.into_data_stream(), how).await?
        }
    };
    answer(&app, &caller, stat)
}

/// A change of a content in place.
pub(crate) enum Patch {
    /// Writes the bytes of the body.
    Write(Where),
    /// Truncate, or extend with zeros, to this many bytes.
    Truncate(u64),
}

/// The change that a query describes.
pub(crate) fn patch_of(query: &PatchQuery) -> Result<Patch, Problem> {
    match (query.offset, query.append, query.truncate) {
        (None, false, Some(size)) => Ok(Patch::Truncate(size)),
        (Some(offset), false, None) => Ok(Patch::Write(Where::Offset(offset))),
        (None, true, None) => Ok(Patch::Write(Where::Append)),
        _ => Err(Problem::invalid("name one of `offset`, `append` and `truncate`")),
    }
}

async fn truncate(
    app: &App,
    caller: Caller,
    at: At,
    size: u64,
    conditions: Conditions,
) -> Result<Stat, Problem> {
    app.blocking(move |store| store.truncate(&caller, &at, size, &conditions)).await
}

/// The properties of the body according to the request.
pub(crate) fn expected(headers: &HeaderMap, body: &Body) -> Result<Expected, Problem> {
    Ok(Expected { length: body.size_hint().exact(), ..digest::expected(headers)? })
}

fn media_type(headers: &HeaderMap) -> Option<String> {
    headers.get(header::CONTENT_TYPE)?.to_str().ok().map(str::to_owned)
}

/// A resource after a change.
pub(crate) fn answer(app: &App, caller: &Caller, stat: Stat) -> Result<Json<Resource>, Problem> {
    app.quick(|store| Ok(Json(Resource::changed(&stat, store, caller)?)))
}
