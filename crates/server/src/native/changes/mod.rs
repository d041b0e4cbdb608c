//! What changed since a position, for mounts and mirrors: a page, or a stream of events.

use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use cenote_store::{ChangePage, Store};
use serde_json::json;
use tokio::time::Instant;

use super::json::{Change, Changes, ChangesQuery, Names, Target};
use super::request::accept::prefers;
use super::request::address;
use super::request::extract::Json;
use super::request::query::{And, Params, page_limit};
use crate::app::App;
use crate::changes::{Feed, events};
use crate::layer::{Admission, Viewer};
use crate::problem::Problem;

/// The longest wait, in seconds.
const LONGEST: u32 = 300;
/// The longest page.
const MOST: usize = 10_000;

/// Changes in commit order, of a subtree if `path` or `id` is given. With `wait`, an empty answer is sent only after that time.
/// Requests that accept `text/event-stream` get them as they happen.
#[utoipa::path(get, path = "/v1/changes", tag = "changes", params(Target, ChangesQuery),
    responses((status = 200, content((Changes = "application/json"), (String = "text/event-stream")))))]
pub(super) async fn changes(
    State(app): State<App>,
    Viewer(caller): Viewer,
    admission: Admission,
    headers: HeaderMap,
    Params(And(target, query)): Params<And<Target, ChangesQuery>>,
) -> Result<Response, Problem> {
    let wait = query.wait.unwrap_or(0);
    if wait > LONGEST {
        return Err(Problem::invalid(format!("`wait` is at most {LONGEST} seconds")));
    }
    let streams = prefers(&headers, events::MEDIA_TYPE, "application/json");
    let since = events::last_event_id(&headers).filter(|_| streams).or(query.since);
    let limit = page_limit(query.limit, MOST)?;
    let top = match target {
        Target { path: None, id: None } => None,
        Target { path, id } => {
            let (at, viewer) = (address::at(path.as_deref(), id)?, caller.clone());
            Some(app.blocking(move |store| Ok(store.stat(&viewer, &at)?.id)).await?)
        }
    };
    let mut feed = Feed::open((app, caller, admission), top, (since, limit)).await?;
    if streams {
        return events::answer(feed, text).await;
    }
    let page = feed.next(Instant::now() + Duration::from_secs(wait.into())).await?;
    Ok(Json(feed.show(page, body).await?).into_response())
}

/// A page as JSON.
fn body(store: &Store, page: ChangePage) -> cenote_store::Result<Changes> {
    let mut names = Names::new(store);
    let items = page.changes.into_iter().map(|change| Change::of(change, &mut names));
    let items = items.collect::<Result<_, _>>()?;
    let access = page.access.map(|position| position.to_string());
    Ok(Changes { items, access, next: page.next.to_string(), more: page.more })
}

/// The events of a page in their order, and the position at its end, unless that is the position of the last event.
fn text(store: &Store, page: ChangePage) -> cenote_store::Result<String> {
    let page = body(store, page)?;
    let changes = page.items.iter();
    let changes = changes.map(|it| (&it.position, events::event("change", &it.position, it)));
    let access = page.access.iter();
    let access = access.map(|at| (at, events::event("access", at, &json!({ "position": at }))));
    let mut shown: Vec<_> = changes.chain(access).collect();
    // As fixed-width hexadecimal digits, they are in the order of the commits.
    shown.sort_by_key(|(position, _)| *position);
    let is_last = shown.last().is_some_and(|(position, _)| **position == page.next);
    let text: String = shown.into_iter().map(|(_, text)| text).collect();
    Ok(if is_last { text } else { text + &events::position(&page.next) })
}
