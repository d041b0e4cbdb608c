//! Removing.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use cenote_store::RemoveOptions;

use super::address::About;
use super::conditional::write_conditions;
use super::json::RemoveQuery;
use crate::app::App;
use crate::layer::Changer;
use crate::problem::Problem;

/// Removes a resource; with `recursive`, all that lies below it, too. What has versions is removed only with `versions`.
#[utoipa::path(delete, path = "/v1/fs/{*path}", tag = "bytes", params(RemoveQuery),
    responses((status = 204, description = "It is gone")))]
pub(super) async fn remove(
    State(app): State<App>,
    Changer(caller): Changer,
    About(at, query): About<RemoveQuery>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let if_match = write_conditions(&headers)?.if_match;
    let RemoveQuery { recursive, versions } = query;
    let options = RemoveOptions { recursive, versions, if_match };
    app.ask(move |store| store.remove(&caller, &at, &options)).await?;
    Ok(StatusCode::NO_CONTENT)
}
