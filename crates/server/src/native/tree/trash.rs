//! Removed resources that are kept for some time.

use axum::extract::State;
use axum::http::StatusCode;
use cenote_store::{ResourceId, RestoreOptions, TrashCursor, TrashOptions};

use crate::app::App;
use crate::layer::{Changer, Viewer};
use crate::native::json::{
    Emptied, EmptyTrash, Names, Resource, RestoreRemoved, TrashItem, TrashItems, TrashQuery,
};
use crate::native::request::address::at;
use crate::native::request::extract::Json;
use crate::native::request::query::Params;
use crate::native::request::query::page_limit;
use crate::problem::Problem;

/// What cursors of this route are sealed for.
const SEALED: &str = "trash";

/// Removed resources that the caller can restore: what they removed, and what was in collections that they control. A page
/// can have fewer items than `limit`, or none, before the last.
#[utoipa::path(get, path = "/v1/trash", tag = "trash", params(TrashQuery),
    responses((status = 200, body = TrashItems)))]
pub(crate) async fn list(
    State(app): State<App>,
    Viewer(caller): Viewer,
    Params(query): Params<TrashQuery>,
) -> Result<Json<TrashItems>, Problem> {
    let after = query.after.map(|text| cursor(&app, &text)).transpose()?;
    let limit = page_limit(query.limit, TrashOptions::MAX)?;
    let below = match (query.path.as_deref(), query.id) {
        (None, None) => None,
        (path, id) => Some(at(path, id)?),
    };
    let options = TrashOptions { below, after, limit, ..TrashOptions::default() };
    let seal = app.clone();
    app.blocking(move |store| {
        let page = store.trash(&caller, &options)?;
        let next = page.next.map(|cursor| seal.cursors().close(SEALED, cursor.to_bytes()));
        let mut names = Names::new(store);
        let items = page.items.into_iter().map(|item| TrashItem::of(item, &mut names));
        Ok(Json(TrashItems { items: items.collect::<Result<_, _>>()?, next }))
    })
    .await
}

/// Restores a removed resource, with everything below it, under the id that it had.
#[utoipa::path(post, path = "/v1/trash/restore", tag = "trash", request_body = RestoreRemoved,
    responses((status = 200, body = Resource)))]
pub(crate) async fn restore(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(question): Json<RestoreRemoved>,
) -> Result<Json<Resource>, Problem> {
    let RestoreRemoved { id, to, parents } = question;
    let to = to.map(|path| path.parse()).transpose()?;
    let options = RestoreOptions { to, parents };
    app.blocking(move |store| {
        let stat = store.restore_removed(&caller, ResourceId(id), &options)?;
        Ok(Json(Resource::changed(&stat, store, &caller)?))
    })
    .await
}

/// Removes one removed resource for good, or all that the caller could restore.
#[utoipa::path(post, path = "/v1/trash/empty", tag = "trash", request_body = EmptyTrash,
    responses((status = 200, body = Emptied)))]
pub(crate) async fn empty(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(question): Json<EmptyTrash>,
) -> Result<(StatusCode, Json<Emptied>), Problem> {
    let items = match (question.id, question.all) {
        (Some(id), false) => {
            let one = move |store: &cenote_store::Store| {
                store.empty_trash_of(&caller, ResourceId(id)).map(|()| 1)
            };
            app.blocking(one).await?
        }
        (None, true) => app.blocking(move |store| store.empty_trash(&caller)).await?,
        _ => return Err(Problem::invalid("give either an `id`, or `all`")),
    };
    Ok((StatusCode::OK, Json(Emptied { items })))
}

fn cursor(app: &App, text: &str) -> Result<TrashCursor, Problem> {
    Ok(TrashCursor::from_bytes(&app.cursors().open(SEALED, text)?)?)
}
