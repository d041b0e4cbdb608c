//! The store as of a moment: what was at a path, in a collection and below it, and what it was like. What is not known is an error, 410
//! `expired`.

pub(crate) mod archive;
pub(crate) mod restore;
pub(crate) mod walk;

use axum::extract::State;
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use cenote_store::{StorePath, avus_of};

use super::contents::read::answer;
use super::json::{
    MomentAnswer, MomentQuery, Names, PastDescription, PastListing, PastPageQuery, PastQuery,
    PastResource,
};
use super::request::extract::Json;
use super::request::query::{And, Params};
use crate::app::App;
use crate::layer::{Reader, Viewer};
use crate::native::request::query::page_limit;
use crate::problem::Problem;

/// The longest page of a listing.
const MOST: usize = 1_000;

/// The position of a moment, so that several requests are about the same state.
#[utoipa::path(get, path = "/v1/past/position", tag = "past", params(MomentQuery),
    responses((status = 200, body = MomentAnswer)))]
pub(crate) async fn position(
    State(app): State<App>,
    Viewer(caller): Viewer,
    Params(query): Params<MomentQuery>,
) -> Result<Json<MomentAnswer>, Problem> {
    app.blocking(move |store| {
        let position = store.at_moment(&caller, query.as_of.0)?.position().to_string();
        Ok(Json(MomentAnswer { position }))
    })
    .await
}

/// What was at a path at a moment.
#[utoipa::path(get, path = "/v1/past/stat", tag = "past", params(PastQuery),
    responses((status = 200, body = PastResource)))]
pub(crate) async fn stat(
    State(app): State<App>,
    Viewer(caller): Viewer,
    Params(query): Params<PastQuery>,
) -> Result<Json<PastResource>, Problem> {
    let path: StorePath = query.path.parse()?;
    app.blocking(move |store| {
        let past = store.stat_as_of(&caller, &path, query.as_of.0)?;
        Ok(Json(PastResource::of(past, &mut Names::new(store))?))
    })
    .await
}

/// What was in a collection at a moment, in the order of the names' bytes.
#[utoipa::path(get, path = "/v1/past/list", tag = "past", params(PastQuery, PastPageQuery),
    responses((status = 200, body = PastListing)))]
pub(crate) async fn list(
    State(app): State<App>,
    Viewer(caller): Viewer,
    Params(And(query, page)): Params<And<PastQuery, PastPageQuery>>,
) -> Result<Json<PastListing>, Problem> {
    let path: StorePath = query.path.parse()?;
    let limit = page_limit(page.limit, MOST)?;
    app.blocking(move |store| {
        let part = (page.after.as_deref(), limit);
        let page = store.list_as_of(&caller, &path, query.as_of.0, part)?;
        Ok(Json(PastListing::of(page, &mut Names::new(store))?))
    })
    .await
}

/// The description that a resource had at a moment.
#[utoipa::path(get, path = "/v1/past/meta", tag = "past", params(PastQuery),
    responses((status = 200, body = PastDescription)))]
pub(crate) async fn meta(
    State(app): State<App>,
    Viewer(caller): Viewer,
    Params(query): Params<PastQuery>,
) -> Result<Json<PastDescription>, Problem> {
    let path: StorePath = query.path.parse()?;
    app.blocking(move |store| {
        let (_, graph) = store.graph_as_of(&caller, &path, query.as_of.0)?;
        let items = avus_of(&graph).into_iter().map(Into::into).collect();
        Ok(Json(PastDescription { items }))
    })
    .await
}

/// The content that an object had at a moment, or a range of it.
#[utoipa::path(get, path = "/v1/past/content", tag = "past", params(PastQuery), responses(
    (status = 200, content_type = "*/*", body = Vec<u8>),
    (status = 206, content_type = "*/*", body = Vec<u8>),
    (status = 304, description = "The client has the current state"),
))]
pub(crate) async fn content(
    State(app): State<App>,
    Reader(caller): Reader,
    Params(query): Params<PastQuery>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let path: StorePath = query.path.parse()?;
    let (_, opened) =
        app.blocking(move |store| store.open_as_of(&caller, &path, query.as_of.0)).await?;
    answer(opened, &method, &headers)
}
