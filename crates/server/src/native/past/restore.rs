//! Restoring what was at a path at a moment, under another one.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use cenote_store::{RestorePast, RestoredPast};

use crate::app::App;
use crate::layer::Changer;
use crate::native::contents::replicas::accepted;
use crate::native::json::{self, Job, Resource};
use crate::native::request::extract::Json;
use crate::problem::Problem;

/// Restores what was at a path at a moment, under another one; a collection as a job, which shows it once it is whole. What is restored is
/// exact, or nothing is: what the job finds later that is not kept is its `fault`.
#[utoipa::path(post, path = "/v1/past/restore", tag = "past", request_body = json::RestorePast,
    responses((status = 201, body = Resource), (status = 202, body = Job)))]
pub(crate) async fn restore(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(question): Json<json::RestorePast>,
) -> Result<Response, Problem> {
    let json::RestorePast { path, as_of, to, recursive, parents, partial } = question;
    let (path, to) = (path.parse()?, to.parse()?);
    let what = RestorePast { path, moment: as_of.0, to, recursive, parents, partial };
    app.blocking(move |store| match store.restore_as_of(&caller, &what)? {
        RestoredPast::Job(job) => Ok(accepted(job)),
        RestoredPast::Now(stat) => {
            let resource = Resource::changed(&stat, store, &caller)?;
            Ok((StatusCode::CREATED, Json(resource)).into_response())
        }
    })
    .await
}
