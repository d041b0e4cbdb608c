//! Change sets: created, shown, extended, committed and dropped here; a header makes a request on the usual routes part
//! of one ([`within`]).

pub(crate) mod within;

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use cenote_store::ChangeSetId;

use super::json::{ChangeSet, ChangeSets, NewChangeSet, Nothing};
use super::request::extract::{Json, Segment};
use crate::app::App;
use crate::layer::{Changer, Viewer};
use crate::problem::Problem;

/// Begins a change set: what it sees is the store as it is now.
#[utoipa::path(post, path = "/v1/changesets", tag = "changesets", request_body = NewChangeSet,
    responses((status = 201, body = ChangeSet)))]
pub(crate) async fn begin(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(question): Json<NewChangeSet>,
) -> Result<(StatusCode, Json<ChangeSet>), Problem> {
    let idle = question.idle_seconds.map(Duration::from_secs);
    let begun = app.blocking(move |store| store.begin_change_set(&caller, idle)).await?;
    Ok((StatusCode::CREATED, Json(begun.into())))
}

/// The open change sets of the caller; of everybody, for administrators.
#[utoipa::path(get, path = "/v1/changesets", tag = "changesets",
    responses((status = 200, body = ChangeSets)))]
pub(crate) async fn list(
    State(app): State<App>,
    Viewer(caller): Viewer,
) -> Result<Json<ChangeSets>, Problem> {
    let open = app.quick(|store| store.change_sets(&caller))?;
    Ok(Json(ChangeSets { items: open.into_iter().map(Into::into).collect() }))
}

/// The state of a change set, also for some time after its end.
#[utoipa::path(get, path = "/v1/changesets/{id}", tag = "changesets", params(("id" = String, Path)),
    responses((status = 200, body = ChangeSet)))]
pub(crate) async fn read(
    State(app): State<App>,
    Viewer(caller): Viewer,
    Segment(id): Segment<String>,
) -> Result<Json<ChangeSet>, Problem> {
    let id: ChangeSetId = id.parse()?;
    Ok(Json(app.quick(|store| store.change_set(&caller, id))?.into()))
}

/// Counts as a use of a change set, so that it is kept longer.
#[utoipa::path(post, path = "/v1/changesets/{id}", tag = "changesets", params(("id" = String, Path)),
    request_body = Nothing, responses((status = 200, body = ChangeSet)))]
pub(crate) async fn extend(
    State(app): State<App>,
    Changer(caller): Changer,
    Segment(id): Segment<String>,
    Json(Nothing {}): Json<Nothing>,
) -> Result<Json<ChangeSet>, Problem> {
    let id: ChangeSetId = id.parse()?;
    Ok(Json(app.quick(|store| store.extend_change_set(&caller, id))?.into()))
}

/// Commits all changes of a change set as one commit.
#[utoipa::path(post, path = "/v1/changesets/{id}/commit", tag = "changesets",
    params(("id" = String, Path)), request_body = Nothing,
    responses((status = 200, body = ChangeSet)))]
pub(crate) async fn commit(
    State(app): State<App>,
    Changer(caller): Changer,
    Segment(id): Segment<String>,
    Json(Nothing {}): Json<Nothing>,
) -> Result<Json<ChangeSet>, Problem> {
    let id: ChangeSetId = id.parse()?;
    Ok(Json(app.store().commit_change_set(&caller, id).await?.into()))
}

/// Drops a change set without any effect.
#[utoipa::path(delete, path = "/v1/changesets/{id}", tag = "changesets", params(("id" = String, Path)),
    responses((status = 204, description = "Dropped")))]
pub(crate) async fn drop_set(
    State(app): State<App>,
    Changer(caller): Changer,
    Segment(id): Segment<String>,
) -> Result<StatusCode, Problem> {
    let id: ChangeSetId = id.parse()?;
    app.blocking(move |store| store.drop_change_set(&caller, id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
