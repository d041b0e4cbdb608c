//! Removing.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use cenote_store::{RemoveOptions, TrashItem};

use crate::app::App;
use crate::layer::Changer;
use crate::native::json::{Instant, RemoveQuery};
use crate::native::request::address::About;
use crate::native::request::conditional::write_conditions;
use crate::native::{TRASH, TRASH_UNTIL};
use crate::problem::Problem;

/// Removes a resource; with `recursive`, everything below it, too. Where the nearest collection that says something keeps
/// what is removed, `Cenote-Trash` names the id under which it can be restored, and `Cenote-Trash-Until` until when.
/// What has versions is removed for good only with `versions`.
#[utoipa::path(delete, path = "/v1/fs/{*path}", tag = "bytes", params(RemoveQuery),
    responses((status = 204, description = "Removed, or moved to the trash")))]
pub(crate) async fn remove(
    State(app): State<App>,
    Changer(caller): Changer,
    About(at, query): About<RemoveQuery>,
    headers: HeaderMap,
) -> Result<(StatusCode, HeaderMap), Problem> {
    let if_match = write_conditions(&headers)?.if_match;
    let RemoveQuery { recursive, versions, permanent } = query;
    let options =
        RemoveOptions { recursive, versions, permanent, if_match, ..RemoveOptions::default() };
    let kept = match recursive {
        true => app.blocking(move |store| store.remove(&caller, &at, &options)).await?,
        false => app.commit(|store| store.remove(&caller, &at, &options))?,
    };
    Ok((StatusCode::NO_CONTENT, kept.as_ref().map(kept_headers).unwrap_or_default()))
}

/// How what was removed can be restored.
pub(super) fn kept_headers(item: &TrashItem) -> HeaderMap {
    let until = HeaderValue::try_from(Instant(item.until).to_string())
        .expect("a time has no letters that a header may not");
    HeaderMap::from_iter([(TRASH, HeaderValue::from(item.id.0)), (TRASH_UNTIL, until)])
}
