//! The format of the store, for administrators: it is changed once every server knows the next one.

use axum::extract::State;

use crate::app::App;
use crate::layer::Changer;
use crate::native::json::{Nothing, Upgrade};
use crate::native::request::extract::Json;
use crate::problem::Problem;

/// Gives the store the newest format that this server knows, if all servers know it.
#[utoipa::path(post, path = "/v1/upgrade", tag = "status", request_body = Nothing,
    responses((status = 200, body = Upgrade)))]
pub(crate) async fn upgrade(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(Nothing {}): Json<Nothing>,
) -> Result<Json<Upgrade>, Problem> {
    app.blocking(move |store| Ok(Json(store.adopt_format(&caller)?.into()))).await
}
