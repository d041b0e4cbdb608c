//! How much there is: below a resource, and in the whole store.

use axum::extract::State;
use cenote_store::At;

use crate::app::App;
use crate::layer::Viewer;
use crate::native::json::{Place, Stats, Target, Usage};
use crate::native::request::extract::Json;
use crate::problem::Problem;

/// What the caller may see below a collection; of an object, its own size.
#[utoipa::path(get, path = "/v1/du", tag = "tree", params(Target),
    responses((status = 200, body = Usage)))]
pub(crate) async fn usage(
    State(app): State<App>,
    Viewer(caller): Viewer,
    at: At,
) -> Result<Json<Usage>, Problem> {
    app.blocking(move |store| {
        let cenote_store::Usage { objects, collections, bytes, removed } =
            store.usage(&caller, &at)?;
        Ok(Json(Usage { objects, collections, bytes, trash: removed.into() }))
    })
    .await
}

/// What the whole store holds: the engine and the places; counts for administrators only.
#[utoipa::path(get, path = "/v1/stats", tag = "status", responses((status = 200, body = Stats)))]
pub(crate) async fn stats(
    State(app): State<App>,
    Viewer(caller): Viewer,
) -> Result<Json<Stats>, Problem> {
    app.blocking(move |store| {
        let stats = store.stats(&caller)?;
        let cenote_store::StoreStats { resources, bytes, removed, engine, places, jobs } = stats;
        let trash = removed.map(Into::into);
        let places = places.into_iter().map(|(name, free)| Place { name, free }).collect();
        Ok(Json(Stats { resources, bytes, trash, engine, places, jobs }))
    })
    .await
}
