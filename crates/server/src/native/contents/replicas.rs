//! Replicas of objects: listing, making and removing them, and registering files.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use cenote_store::{At, JobStatus, Registration, Trim};

use super::uploads::digest;
use super::write::answer;
use crate::app::App;
use crate::layer::{Changer, Viewer};
use crate::native::json::{
    Job, Register, Replicas, Replicate, Resource, Target, TrimReplicas, Trimmed,
};
use crate::native::request::address::at;
use crate::native::request::extract::Json;
use crate::problem::Problem;

/// The replicas of an object, by number.
#[utoipa::path(get, path = "/v1/replicas", tag = "places", params(Target),
    responses((status = 200, body = Replicas)))]
pub(crate) async fn list(
    State(app): State<App>,
    Viewer(caller): Viewer,
    at: At,
) -> Result<Json<Replicas>, Problem> {
    app.blocking(move |store| Ok(Json(Replicas::of(store.replicas(&caller, &at)?)))).await
}

/// Copies the content of an object into a place; of all objects below a collection, as a job.
#[utoipa::path(post, path = "/v1/replicas", tag = "places", request_body = Replicate,
    responses((status = 200, body = Replicas), (status = 202, body = Job)))]
pub(crate) async fn replicate(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(question): Json<Replicate>,
) -> Result<Response, Problem> {
    let at = at(question.path.as_deref(), question.id)?;
    let place = app.quick(|store| store.place_named(&caller, &question.place))?;
    if question.recursive {
        let job = app.blocking(move |store| store.replicate_tree(&caller, &at, place)).await?;
        return Ok(accepted(job));
    }
    app.store().replicate(&caller, &at, place).await?;
    let replicas = app.blocking(move |store| store.replicas(&caller, &at)).await?;
    Ok(Json(Replicas::of(replicas)).into_response())
}

/// Removes replicas of an object, never the last good one; of all objects below a collection, as a job.
#[utoipa::path(post, path = "/v1/trim", tag = "places", request_body = TrimReplicas,
    responses((status = 200, body = Trimmed), (status = 202, body = Job)))]
pub(crate) async fn trim(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(question): Json<TrimReplicas>,
) -> Result<Response, Problem> {
    let TrimReplicas { path, id, replica, place, keep, recursive, dry_run } = question;
    let at = at(path.as_deref(), id)?;
    let place = super::write::place(&app, &caller, place.as_deref())?;
    if !recursive {
        let trim = Trim { replica, place, keep, dry_run };
        let trimmed = app.store().trim(&caller, &at, &trim).await?;
        return Ok(Json(Trimmed { trimmed }).into_response());
    }
    if replica.is_some() || dry_run {
        return Err(Problem::invalid("`recursive` cannot be combined with `replica` or `dry_run`"));
    }
    let job = app.blocking(move |store| store.trim_tree(&caller, &at, place, keep)).await?;
    Ok(accepted(job))
}

/// The job that continues it.
pub(crate) fn accepted(job: JobStatus) -> Response {
    (StatusCode::ACCEPTED, Json(Job::from(job))).into_response()
}

/// Makes a file the content of an object, in place.
#[utoipa::path(post, path = "/v1/register", tag = "places", request_body = Register,
    responses((status = 201, body = Resource)))]
pub(crate) async fn register(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(question): Json<Register>,
) -> Result<(StatusCode, Json<Resource>), Problem> {
    let path = question.path.parse()?;
    let place = app.quick(|store| store.place_named(&caller, &question.place))?;
    let file = Registration {
        place,
        file: question.file,
        size: question.size,
        sha256: question.sha256.as_deref().map(digest).transpose()?,
        additional: question.additional,
        replace: question.replace,
    };
    let stat = app.store().register(&caller, &path, &file).await?;
    Ok((StatusCode::CREATED, answer(&app, &caller, stat)?))
}
