//! Who links to a resource.

use axum::extract::State;
use cenote_store::{LinksQuery, Query, SearchCursor};

use crate::app::App;
use crate::layer::Viewer;
use crate::native::json;
use crate::native::json::Links;
use crate::native::request::address::About;
use crate::native::request::cursor::page;
use crate::native::request::extract::Json;
use crate::problem::Problem;

/// What cursors of this route are sealed for.
const SEALED: &str = "links";
/// The most items of a page.
const MOST: usize = 1_000;

/// Resources whose descriptions link to this one, as far as the caller may read them. A page can have fewer items than
/// `limit`, or none, before the last: as long as there is a `next`, more can follow.
#[utoipa::path(get, path = "/v1/links", tag = "metadata", params(json::Target, json::LinksQuery),
    responses((status = 200, body = Links)))]
pub(crate) async fn links(
    State(app): State<App>,
    Viewer(caller): Viewer,
    About(to, query): About<json::LinksQuery>,
) -> Result<Json<Links>, Problem> {
    let (limits, after) = ((query.limit, MOST), query.after.as_deref());
    let (limit, after) = page(&app, SEALED, limits, after, SearchCursor::from_bytes)?;
    let query = LinksQuery { to, after, limit, effort: Query::EFFORT };
    let seal = app.clone();
    app.blocking(move |store| {
        let mut page = store.links(&caller, &query)?;
        let next = page.next.take();
        let next = next.map(|cursor| seal.cursors().close(SEALED, cursor.to_bytes()));
        Ok(Json(Links::new(store, page, next)?))
    })
    .await
}
