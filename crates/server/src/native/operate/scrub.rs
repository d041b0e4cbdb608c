//! The scrub, for administrators: its progress, and damage that could not be repaired.

use axum::extract::State;
use axum::http::StatusCode;
use cenote_store::{Caller, Store};

use crate::app::App;
use crate::layer::{Changer, Viewer};
use crate::native::json::{DamagedCopy, Nothing, Scrub};
use crate::native::request::extract::Json;
use crate::problem::Problem;

/// The round of scrubbing in progress, or the last one, and the copies that are damaged.
#[utoipa::path(get, path = "/v1/scrub", tag = "status", responses((status = 200, body = Scrub)))]
pub(crate) async fn status(
    State(app): State<App>,
    Viewer(caller): Viewer,
) -> Result<Json<Scrub>, Problem> {
    app.blocking(move |store| {
        let round = store.scrub_status(&caller)?;
        Ok(Json(Scrub::new(round, damaged(store, &caller)?)))
    })
    .await
}

/// Begins a round of scrubbing, unless one is in progress.
#[utoipa::path(post, path = "/v1/scrub", tag = "status", request_body = Nothing,
    responses((status = 202, body = Scrub)))]
pub(crate) async fn start(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(Nothing {}): Json<Nothing>,
) -> Result<(StatusCode, Json<Scrub>), Problem> {
    app.blocking(move |store| {
        let round = store.start_scrub(&caller)?;
        let scrub = Scrub::new(Some(round), damaged(store, &caller)?);
        Ok((StatusCode::ACCEPTED, Json(scrub)))
    })
    .await
}

fn damaged(store: &Store, caller: &Caller) -> cenote_store::Result<Vec<DamagedCopy>> {
    Ok(store.damaged(caller)?.into_iter().map(DamagedCopy::from).collect())
}
