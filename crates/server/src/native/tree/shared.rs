//! What others shared out of collections that the caller cannot list.

use axum::extract::State;
use cenote_store::{SharedCursor, SharedOptions};

use crate::app::App;
use crate::layer::Viewer;
use crate::native::json::{Found, SharedQuery};
use crate::native::request::cursor::page;
use crate::native::request::extract::Json;
use crate::native::request::query::Params;
use crate::problem::Problem;

/// What cursors of this route are sealed for.
const SEALED: &str = "shared";

/// Resources that are shared with the caller and that no listing leads to. A page can have fewer items than `limit`, or
/// none, before the last: as long as there is a `next`, more can follow.
#[utoipa::path(get, path = "/v1/shared", tag = "tree", params(SharedQuery),
    responses((status = 200, body = Found)))]
pub(crate) async fn shared(
    State(app): State<App>,
    Viewer(caller): Viewer,
    Params(query): Params<SharedQuery>,
) -> Result<Json<Found>, Problem> {
    let (limits, after) = ((query.limit, SharedOptions::MAX), query.after.as_deref());
    let (limit, after) = page(&app, SEALED, limits, after, SharedCursor::from_bytes)?;
    let options = SharedOptions { after, limit, ..SharedOptions::default() };
    let seal = app.clone();
    app.blocking(move |store| {
        let page = store.shared(&caller, &options)?;
        let next = page.next.map(|cursor| seal.cursors().close(SEALED, cursor.to_bytes()));
        Ok(Json(Found::new(store, &page.items, next)?))
    })
    .await
}
