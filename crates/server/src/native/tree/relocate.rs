//! Moving and copying.

use axum::extract::State;
use axum::http::HeaderMap;
use cenote_store::{At, CopyOptions, MoveOptions, Relocated};

use crate::app::App;
use crate::layer::Changer;
use crate::native::json::{Copy, Move, Resource};
use crate::native::request::conditional::write_conditions;
use crate::native::request::extract::Json;
use crate::native::tree::remove::kept_headers;
use crate::problem::Problem;

/// Moves a resource, with all that hangs below it, in one commit. If the trash keeps what it replaces, `Cenote-Trash` and
/// `Cenote-Trash-Until` are those of that.
#[utoipa::path(post, path = "/v1/move", tag = "tree", request_body = Move,
    responses((status = 200, body = Resource)))]
pub(crate) async fn relocate(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(question): Json<Move>,
) -> Result<(HeaderMap, Json<Resource>), Problem> {
    let from = At::try_from(&question.from)?;
    let to = At::try_from(&question.to)?;
    let Move { replace, parents, versions, .. } = question;
    let options = MoveOptions { replace, parents, versions };
    app.blocking(move |store| {
        let Relocated { stat, replaced } =
            store.relocate_with(&caller, &from, &to, options, ("", |_| Ok(())))?;
        let headers = replaced.as_ref().map(kept_headers).unwrap_or_default();
        Ok((headers, Json(Resource::changed(&stat, store, &caller)?)))
    })
    .await
}

/// Copies a resource; contents are shared, not copied. `If-Match` and `If-None-Match` are about what is
/// at the path of the copy.
#[utoipa::path(post, path = "/v1/copy", tag = "tree", request_body = Copy,
    responses((status = 200, body = Resource)))]
pub(crate) async fn copy(
    State(app): State<App>,
    Changer(caller): Changer,
    headers: HeaderMap,
    Json(question): Json<Copy>,
) -> Result<Json<Resource>, Problem> {
    let from = At::try_from(&question.from)?;
    let to = At::try_from(&question.to)?;
    let Copy { replace, parents, recursive, .. } = question;
    let conditions = write_conditions(&headers)?;
    let options = CopyOptions { replace, parents, recursive, conditions };
    app.blocking(move |store| {
        let stat = store.copy(&caller, &from, &to, options)?;
        Ok(Json(Resource::changed(&stat, store, &caller)?))
    })
    .await
}
