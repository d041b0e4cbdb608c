//! What changed since a position, for mounts and mirrors.

use std::time::Duration;

use axum::extract::State;
use cenote_store::{Caller, ChangePage, Position, Store};
use tokio::time::Instant;

use super::extract::Json;
use super::json::{Change, Changes, ChangesQuery, Names};
use super::list::page_limit;
use super::query::Params;
use crate::app::App;
use crate::layer::{Admission, Asker};
use crate::problem::Problem;

/// The longest page.
const MOST: usize = 10_000;
/// The longest wait, in seconds.
const LONGEST: u32 = 300;
/// How often a waiting request looks by itself: a change may come from another process.
const LOOK: Duration = Duration::from_secs(1);

/// Changes in commit order. With `wait`, an empty answer comes only after that time.
#[utoipa::path(get, path = "/v1/changes", tag = "changes", params(ChangesQuery),
    responses((status = 200, body = Changes)))]
pub(super) async fn changes(
    State(app): State<App>,
    Asker(caller): Asker,
    admission: Admission,
    Params(query): Params<ChangesQuery>,
) -> Result<Json<Changes>, Problem> {
    let since = match query.since.as_deref() {
        Some("now") => app.ask(Store::newest_change).await?,
        since => since.map(str::parse).transpose()?.unwrap_or_default(),
    };
    let limit = page_limit(query.limit, MOST)?;
    let wait = query.wait.unwrap_or(0);
    if wait > LONGEST {
        return Err(Problem::invalid(format!("`wait` is at most {LONGEST} seconds")));
    }
    let until = Instant::now() + Duration::from_secs(wait.into());
    let page = watch(&app, &caller, &admission, (since, limit), until).await?;
    app.ask(move |store| {
        let mut names = Names::new(store);
        let items = page.changes.into_iter().map(|change| Change::of(change, &mut names));
        let items = items.collect::<Result<_, _>>()?;
        Ok(Json(Changes { items, next: page.next.to_string(), more: page.more }))
    })
    .await
}

async fn watch(
    app: &App,
    caller: &Caller,
    admission: &Admission,
    (mut since, limit): (Position, usize),
    until: Instant,
) -> Result<ChangePage, Problem> {
    loop {
        // Begun before the look, so that no change falls between the two.
        let changed = app.changed().notified();
        let asker = caller.clone();
        let page = app.ask(move |store| store.changes(&asker, since, limit)).await?;
        let ended = Instant::now() >= until || app.stopping().is_cancelled();
        if !page.changes.is_empty() || ended {
            return Ok(page);
        }
        since = page.next;
        if page.more {
            continue;
        }
        let something = async {
            tokio::select! {
                () = changed => {}
                () = tokio::time::sleep_until(until.min(Instant::now() + LOOK)) => {}
                () = app.stopping().cancelled() => {}
            }
        };
        admission.aside(something).await?;
    }
}
