//! What changed since a position, for mounts and mirrors: a page, or a stream of events.

mod events;
mod feed;

use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use tokio::time::Instant;

use self::feed::Feed;
use super::json::{Changes, ChangesQuery, Target};
use super::request::accept::prefers;
use super::request::extract::Json;
use super::request::query::{And, Params};
use crate::app::App;
use crate::layer::{Admission, Asker};
use crate::problem::Problem;

/// The longest wait, in seconds.
const LONGEST: u32 = 300;

/// Changes in commit order, of a subtree if `path` or `id` names one. With `wait`, an empty answer comes only after that time.
/// To a request that accepts `text/event-stream` they are sent as they happen.
#[utoipa::path(get, path = "/v1/changes", tag = "changes", params(Target, ChangesQuery),
    responses((status = 200, content((Changes = "application/json"), (String = "text/event-stream")))))]
pub(super) async fn changes(
    State(app): State<App>,
    Asker(caller): Asker,
    admission: Admission,
    headers: HeaderMap,
    Params(And(target, query)): Params<And<Target, ChangesQuery>>,
) -> Result<Response, Problem> {
    let wait = query.wait.unwrap_or(0);
    if wait > LONGEST {
        return Err(Problem::invalid(format!("`wait` is at most {LONGEST} seconds")));
    }
    let streams = prefers(&headers, events::MEDIA_TYPE, "application/json");
    let since = events::last_seen(&headers).filter(|_| streams).or(query.since);
    let mut feed = Feed::open((app, caller, admission), &target, (since, query.limit)).await?;
    if streams {
        return events::answer(feed, Duration::from_secs(LONGEST.into())).await;
    }
    let page = feed.next(Instant::now() + Duration::from_secs(wait.into())).await?;
    Ok(Json(feed.show(page).await?).into_response())
}
